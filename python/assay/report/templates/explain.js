"use strict";
// Follows links from claims to what they rest on, copies commands, unpacks plans, computes what-ifs.
(() => {
  const seconds = (value) => {
    const [size, unit] = value >= 1 ? [value, "s"] : value >= 1e-3 ? [value * 1e3, "ms"] : [value * 1e6, "µs"];
    return `${size >= 1000 ? size.toFixed(0) : size.toPrecision(3)} ${unit}`;
  };
  const plain = (value) => value.toFixed(4).replace("-", "−");
  const grouped = (value) => new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }).format(value);
  const signed = (share) => `${share < 0 ? "−" : "+"}${(100 * Math.abs(share)).toFixed(1)} %`;

  // What a claim rests on may lie in something that is folded, or in a drawing.
  function follow() {
    let at;
    try { at = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const [kind, name] = [at.split(":")[0], at.slice(at.indexOf(":") + 1)];
    if (kind === "where") document.dispatchEvent(new CustomEvent("point", { detail: name }));
    if (kind === "profile") choose(name);
    const place = document.getElementById(at);
    if (!place) return;
    for (let box = place.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    place.scrollIntoView();
  }

  function choose(operation) {
    const select = document.querySelector("#flame select");
    if (!select || !Array.from(select.options).some((option) => option.value === operation)) return;
    select.value = operation;
    select.dispatchEvent(new Event("change"));
  }

  async function copy(button) {
    const code = button.previousElementSibling;
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    let done = true;
    try { await navigator.clipboard.writeText(code.textContent); } catch { done = document.execCommand("copy"); }
    button.textContent = done ? "copied" : "selected";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  }

  async function unpack(pre) {
    const packed = Uint8Array.from(atob(pre.dataset.packed), (char) => char.charCodeAt(0));
    delete pre.dataset.packed;
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    pre.textContent = await new Response(stream).text();
  }

  // A sum is linear in an operation's time, a geometric mean is a power of it; the rest follows.
  const FORMS = {
    total_seconds: (value, e, f) => [value * (1 + e * (f - 1)), `× (1 + ${e.toFixed(3)} × (${f} − 1))`],
    geometric_mean_seconds: (value, e, f) => [value * f ** e, `× ${f}^${plain(e)}`],
  };
  FORMS.service_seconds_mean = FORMS.total_seconds;
  FORMS.power_like_per_h = FORMS.geometric_mean_seconds;
  FORMS.throughput_like_per_h = (value, e, f) => [value / (1 - e * (f - 1)), `÷ (1 + ${(-e).toFixed(3)} × (${f} − 1))`];
  FORMS.throughput_per_s = FORMS.throughput_like_per_h;
  // Of a test as long as the same run is reported and the same stream ends last.
  FORMS.test_power_per_h = FORMS.power_like_per_h;
  FORMS.test_throughput_per_h = FORMS.throughput_like_per_h;
  const COMPOSITES = {
    composite_per_h: ["power_like_per_h", "throughput_like_per_h", "√(power-like × throughput-like)"],
    test_composite_per_h: ["test_power_per_h", "test_throughput_per_h", "√(power × throughput)"],
  };

  class Calculator {
    constructor(place) {
      this.figures = JSON.parse(document.getElementById(place.dataset.figures).textContent);
      this.select = place.querySelector("select");
      this.range = place.querySelector("input[type=range]");
      this.number = place.querySelector("input[type=number]");
      this.out = place.querySelector("output");
      this.select.addEventListener("change", () => this.tell());
      this.range.addEventListener("input", () => { this.number.value = this.range.value; this.tell(); });
      this.number.addEventListener("input", () => { this.range.value = this.number.value; this.tell(); });
      place.hidden = false;
      this.tell();
    }

    tell() {
      const factor = Number(this.number.value);
      const operation = this.figures.operations[this.select.value];
      this.out.replaceChildren();
      if (this.number.value === "" || !(factor >= 0)) return this.line("A factor is a number of 0 or more.");
      this.line(`${this.select.value}: ${seconds(operation.seconds)} → ${seconds(operation.seconds * factor)}`);
      const after = {};
      for (const metric of this.figures.metrics) {
        const prediction = this.predicted(metric, operation.elasticity[metric.metric], factor, after);
        if (prediction) this.line(...prediction);
      }
    }

    predicted(metric, elasticity, factor, after) {
      if (metric.value === null) return null;
      const amount = (value) => (metric.unit === "s" ? seconds(value) : `${grouped(value)} ${metric.unit}`);
      let value, sentence;
      if (metric.metric in COMPOSITES) {
        const [power, throughput, formula] = COMPOSITES[metric.metric];
        value = Math.sqrt(after[power] * after[throughput]);
        sentence = formula;
      } else {
        [value, sentence] = FORMS[metric.metric](metric.value, elasticity, factor);
        sentence = `${amount(metric.value)} ${sentence}`;
      }
      after[metric.metric] = value;
      if (!Number.isFinite(value)) return [`${metric.label}: no bound`, sentence];
      return [`${metric.label} ${amount(metric.value)} → ${amount(value)} (${signed(value / metric.value - 1)})`, sentence];
    }

    line(sentence, formula = "") {
      const line = document.createElement("div");
      line.append(sentence);
      if (formula) {
        const shown = document.createElement("code");
        shown.textContent = formula;
        line.append(" = ", shown);
      }
      this.out.append(line);
    }
  }

  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    // A second click on the same link changes no address, and has to lead there all the same.
    if (link && link.getAttribute("href") === location.hash) follow();
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
  for (const box of document.querySelectorAll("details.native")) {
    box.addEventListener("toggle", () => {
      const pre = box.querySelector("[data-packed]");
      if (box.open && pre) unpack(pre);
    });
  }
  for (const place of document.querySelectorAll(".calculator")) new Calculator(place);
  if (location.hash) follow();
})();
