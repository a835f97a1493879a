"use strict";
// Draws the charts, follows the page's width and its light or dark scheme, sorts tables.
(() => {
  const PANEL_MARGIN = 64; // what vertical axes and their titles take beside a timeline's panels
  const SIDE_MARGIN = 52; // the same beside each of several panels that stand side by side
  const SIDE_MIN = 160; // narrower ones go below each other
  const WIDTH_MIN = 240;
  const LEGEND_ENTRY = 150; // width of the longest entries of a legend
  const CAUSE_ENTRY = 190; // the same where causes are named
  const LOG_ERRORS = 1;
  const WHERE = "operations"; // the chart of which a link may point at a bar
  const KEPT = new Set(["shown", "on_cpu", "sorted"]); // what a reader chose stays when a chart is drawn anew
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const views = new Map();
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function theme() {
    const ink = colour("--ink"), soft = colour("--soft"), line = colour("--line");
    return {
      background: colour("--card"),
      axis: { labelColor: ink, titleColor: soft, gridColor: line, tickColor: line, domainColor: line },
      legend: { labelColor: ink, titleColor: soft },
      text: { color: ink },
      title: { color: ink },
    };
  }

  function sized(spec, width, entry) {
    const copy = structuredClone(spec);
    copy.config.legend.columns = Math.max(1, Math.min(5, Math.floor(width / entry)));
    if (copy.vconcat) {
      for (const panel of copy.vconcat) panel.width = Math.max(WIDTH_MIN, width - PANEL_MARGIN);
      return copy;
    }
    if (copy.concat) {
      copy.columns = Math.max(1, Math.min(copy.concat.length, Math.floor(width / SIDE_MIN)));
      for (const panel of copy.concat) panel.width = Math.floor(width / copy.columns) - SIDE_MARGIN;
      return copy;
    }
    copy.width = Math.max(WIDTH_MIN, width);
    copy.autosize = { type: "fit-x", contains: "padding" };
    return copy;
  }

  async function draw(place) {
    const name = place.dataset.chart;
    const spec = sized(specs[name], Math.floor(place.clientWidth), name === WHERE ? CAUSE_ENTRY : LEGEND_ENTRY);
    const options = {
      actions: false, renderer: "svg", config: theme(), logLevel: LOG_ERRORS,
      tooltip: { theme: dark.matches ? "dark" : "light" },
    };
    const before = views.get(place);
    const made = await vegaEmbed(place, spec, options);
    if (before) {
      made.view.setState(before.view.getState({ signals: (name) => KEPT.has(name), data: () => false, recurse: false }));
      before.finalize();
    }
    views.set(place, made);
    if (name === WHERE && pointed) await made.view.signal("pointed", pointed).runAsync();
    place.dataset.drawn = "yes";
  }

  function download(url, name) {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  }

  async function take(button) {
    const place = document.querySelector(`.chart[data-chart="${button.dataset.of}"]`);
    const name = `${document.body.dataset.run}-${button.dataset.of}`;
    const kind = button.dataset.take;
    if (kind === "json") {
      const text = JSON.stringify(specs[button.dataset.of], null, 1);
      download(`data:application/json,${encodeURIComponent(text)}`, `${name}.vl.json`);
      return;
    }
    const made = views.get(place);
    if (made) download(await made.view.toImageURL(kind, kind === "png" ? 2 : 1), `${name}.${kind}`);
  }

  function sort(button) {
    const head = button.closest("th");
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const number = head.classList.contains("number");
    const up = head.getAttribute("aria-sort") !== (number ? "descending" : "ascending") ? !number : number;
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const order = (a, b) => {
      const [left, right] = [value(a), value(b)];
      if (left === "" || right === "") return (left === "") - (right === ""); // not measured: last
      const step = number ? Number(left) - Number(right) : left.localeCompare(right);
      return up ? step : -step;
    };
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append(...Array.from(body.rows).sort(order));
  }

  let pointed = "";
  document.addEventListener("point", (event) => {
    pointed = event.detail;
    for (const [place, made] of views) if (place.dataset.chart === WHERE) made.view.signal("pointed", pointed).runAsync();
  });

  const places = Array.from(document.querySelectorAll(".chart"));
  const drawAll = () => places.forEach((place) => draw(place).catch((error) => console.error(error)));
  let waiting = 0, width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });
  dark.addEventListener("change", drawAll);
  document.querySelectorAll("[data-take]").forEach((b) => b.addEventListener("click", () => take(b)));
  document.querySelectorAll("th button").forEach((b) => b.addEventListener("click", () => sort(b)));
  drawAll();
})();
