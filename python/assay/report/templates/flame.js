"use strict";
// Draws call trees as icicles or flames: zoomed by a click, searched, filtered by operation.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 19, FONT_SIZE = 11, PADDING = 4;
  const FONT = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
  const DRAWN_MIN = 0.5; // pixels; what is narrower cannot be seen
  const KERNEL = "[kernel]";
  const CHANGE_MIN = 0.25; // how much of the full tone the smallest change that counts is given
  const EVERYTHING = "all samples";
  const HINT = "Point at a frame to read about it, click it to zoom in. With the keyboard: arrows, Enter, Escape.";

  const percent = (share) => `${(share * 100).toFixed(share < 0.0995 ? 2 : 1)} %`;
  const grouped = (count) => count.toLocaleString("en-US");
  const seconds = (s) => (s >= 100 ? `${s.toFixed(0)} s` : s >= 1 || s === 0 ? `${s.toPrecision(3)} s` : `${(s * 1000).toPrecision(3)} ms`);
  const signed = (s) => `${s < 0 ? "−" : "+"}${seconds(Math.abs(s))}`;

  function made(name, attributes, parent) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (parent) parent.append(element);
    return element;
  }

  function luminance(hex) {
    const part = (at) => {
      const value = parseInt(hex.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  }

  function mixed(from, to, share) {
    const part = (hex, at) => parseInt(hex.slice(at, at + 2), 16);
    const one = (at) => Math.round(part(from, at) + (part(to, at) - part(from, at)) * share);
    return `#${[1, 3, 5].map((at) => one(at).toString(16).padStart(2, "0")).join("")}`;
  }

  // The text as far as there is room for it; of a C++ name qualifiers go first, its end last.
  function brief(label, room) {
    if (label.length <= room) return label;
    let depth = 0, end = 0;
    for (let at = 0; at < label.length; at += 1) {
      if (label[at] === "<") depth += 1;
      if (label[at] === ">") depth -= 1;
      if (depth === 0 && label.startsWith("::", at)) {
        end = at + 2;
        if (label.length - end < room) return `…${label.slice(end)}`;
      }
    }
    return `${label.slice(end, end + room - 1)}…`;
  }

  // A tree whose root, the last node, stands for all samples.
  class CallTree {
    constructor(data) {
      this.data = data;
      this.root = data.parent.length;
      this.children = Array.from({ length: this.root + 1 }, () => []);
      this.parent = data.parent.map((parent) => (parent < 0 ? this.root : parent));
      this.parent.push(-1);
      this.select("");
      for (let node = 0; node < this.root; node += 1) this.children[this.parent[node]].push(node);
      for (const list of this.children) list.sort((a, b) => this.total[b] - this.total[a]);
    }

    select(operation) {
      this.own = new Float64Array(this.root + 1);
      for (const name of operation ? [operation] : this.data.operations) {
        const [nodes, counts] = this.data.counts[name];
        nodes.forEach((node, at) => { this.own[node] += counts[at]; });
      }
      this.total = this.own.slice();
      // Callers come before what they call, so that one walk backwards adds all up.
      for (let node = this.root - 1; node >= 0; node -= 1) this.total[this.parent[node]] += this.total[node];
    }

    label(node) {
      return node === this.root ? EVERYTHING : this.data.labels[this.data.label[node]];
    }

    module(node) {
      return node === this.root ? "" : this.data.modules[this.data.module[node]] || "";
    }

    isKernel(node) {
      return this.module(node) === KERNEL;
    }

    callers(node) {
      const ancestors = [];
      for (let at = this.parent[node]; at >= 0; at = this.parent[at]) ancestors.unshift(at);
      return ancestors;
    }

    // Samples at or below frames that match, each counted once.
    matched(matches) {
      let samples = 0;
      const open = [this.root];
      while (open.length) {
        const node = open.pop();
        if (matches(node)) samples += this.total[node];
        else open.push(...this.children[node]);
      }
      return samples;
    }

    folded() {
      const lines = [];
      for (let node = 0; node < this.root; node += 1) {
        if (!this.own[node]) continue;
        const path = [...this.callers(node).slice(1), node].map((at) => this.label(at).replaceAll(";", ":"));
        lines.push(`${path.join(";")} ${this.own[node]}`);
      }
      return `${lines.join("\n")}\n`;
    }
  }

  class Flame {
    constructor(place) {
      this.place = place;
      this.tree = new CallTree(JSON.parse(place.querySelector("script").textContent));
      this.about = place.querySelector(".flame-about");
      this.matchText = place.querySelector(".flame-found");
      this.search = place.querySelector("input[type=search]");
      this.filter = place.querySelector("select");
      this.back = place.querySelector(".flame-back");
      this.zoomed = this.tree.root;
      this.at = this.tree.root;
      this.groups = new Map();
      this.svg = made("svg", { role: "tree", "aria-label": "call tree of the CPU samples" });
      place.querySelector(".flame-view").append(this.svg);
      const measure = document.createElement("canvas").getContext("2d");
      measure.font = `${FONT_SIZE}px ${FONT}`;
      this.letter = measure.measureText("0").width || 0.6 * FONT_SIZE;
      this.listen();
      this.draw();
      this.tell(null);
      place.dataset.flameDrawn = "yes";
    }

    get upwards() {
      return this.place.querySelector("input[value=flame]").checked;
    }

    listen() {
      this.search.addEventListener("input", () => this.mark());
      if (this.filter) this.filter.addEventListener("change", () => this.choose(this.filter.value));
      this.back.addEventListener("click", () => this.zoom(this.tree.root));
      for (const radio of this.place.querySelectorAll("input[type=radio]")) radio.addEventListener("change", () => this.draw());
      for (const button of document.querySelectorAll(`[data-flame-of="${this.place.id}"]`)) button.addEventListener("click", () => this.take(button.dataset.flameTake));
      const node = (event) => {
        const group = event.target.closest("g[data-node]");
        return group ? Number(group.dataset.node) : null;
      };
      this.svg.addEventListener("pointerover", (event) => this.tell(node(event)));
      this.svg.addEventListener("pointerleave", () => this.tell(null));
      this.svg.addEventListener("focusin", (event) => this.tell(node(event)));
      this.svg.addEventListener("click", (event) => { if (node(event) !== null) this.zoom(node(event)); });
      this.svg.addEventListener("keydown", (event) => this.press(event));
      let width = window.innerWidth;
      window.addEventListener("resize", () => {
        if (window.innerWidth === width) return;
        width = window.innerWidth;
        this.draw();
      });
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    }

    choose(operation) {
      this.tree.select(operation);
      if (!this.tree.total[this.zoomed]) this.zoomed = this.tree.root;
      this.draw();
      this.tell(null);
    }

    zoom(node) {
      this.zoomed = node;
      this.at = node;
      const focused = this.svg.contains(document.activeElement);
      this.draw();
      this.tell(node === this.tree.root ? null : node);
      if (focused) this.focus(node);
    }

    focus(node) {
      const group = this.groups.get(node);
      if (!group) return;
      this.groups.get(this.at)?.setAttribute("tabindex", "-1");
      this.at = node;
      group.setAttribute("tabindex", "0");
      group.focus();
    }

    press(event) {
      const { tree, at } = this;
      const inwards = this.upwards ? "ArrowUp" : "ArrowDown";
      const outwards = this.upwards ? "ArrowDown" : "ArrowUp";
      const shown = (nodes) => nodes.filter((node) => this.groups.has(node));
      const siblings = at === tree.root ? [at] : shown(tree.children[tree.parent[at]]);
      const place = siblings.indexOf(at);
      const steps = {
        [inwards]: () => this.focus(shown(tree.children[at])[0]),
        [outwards]: () => this.focus(tree.parent[at]),
        ArrowLeft: () => this.focus(siblings[place - 1]),
        ArrowRight: () => this.focus(siblings[place + 1]),
        Home: () => this.focus(tree.root),
        Enter: () => this.zoom(at),
        " ": () => this.zoom(at),
        Escape: () => this.zoom(tree.root),
      };
      if (!steps[event.key]) return;
      event.preventDefault();
      steps[event.key]();
    }

    // Frames to draw: node, level, left edge and width in pixels.
    layout(width) {
      const { tree } = this;
      const callers = tree.callers(this.zoomed);
      const frames = callers.map((node, level) => ({ node, level, x: 0, width, isCaller: true }));
      const open = [{ node: this.zoomed, level: callers.length, x: 0, width, isCaller: false }];
      while (open.length) {
        const frame = open.pop();
        frames.push(frame);
        let x = frame.x;
        for (const child of tree.children[frame.node]) {
          const wide = (frame.width * tree.total[child]) / (tree.total[frame.node] || 1);
          if (wide >= DRAWN_MIN) open.push({ node: child, level: frame.level + 1, x, width: wide, isCaller: false });
          x += wide;
        }
      }
      return frames;
    }

    draw() {
      const style = getComputedStyle(document.documentElement);
      const width = Math.max(120, Math.floor(this.svg.parentElement.clientWidth));
      const frames = this.layout(width);
      const levels = 1 + frames.reduce((most, frame) => Math.max(most, frame.level), 0);
      const height = levels * ROW;
      this.svg.replaceChildren();
      for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT, "font-size": FONT_SIZE })) this.svg.setAttribute(key, value);
      this.card = style.getPropertyValue("--card").trim();
      this.stripes();
      this.groups.clear();
      for (const frame of frames) this.frame(frame, this.upwards ? height - (frame.level + 1) * ROW : frame.level * ROW);
      if (!this.groups.has(this.at)) this.at = this.zoomed;
      this.groups.get(this.at).setAttribute("tabindex", "0");
      this.back.hidden = this.zoomed === this.tree.root;
      this.mark();
    }

    stripes() {
      const id = `${this.place.id}-kernel`;
      const pattern = made("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, made("defs", {}, this.svg));
      made("rect", { width: 2, height: 6, fill: "#000000", "fill-opacity": 0.22 }, pattern);
      this.kernelFill = `url(#${id})`;
    }

    frame({ node, level, x, width, isCaller }, y) {
      const group = made("g", { "data-node": node, role: "treeitem", tabindex: "-1", "aria-level": level + 1, "aria-label": this.description(node) }, this.svg);
      const fill = this.colour(node);
      const box = { x, y, width: Math.max(DRAWN_MIN, width - (width > 3 ? 1 : 0)), height: ROW - 1, rx: width > 6 ? 2 : 0 };
      made("rect", { ...box, fill, "fill-opacity": isCaller ? 0.55 : 1 }, group);
      if (this.tree.isKernel(node)) made("rect", { ...box, fill: this.kernelFill }, group);
      const room = Math.floor((width - 2 * PADDING) / this.letter);
      if (room >= 3) {
        const solid = isCaller ? mixed(this.card, fill, 0.55) : fill;
        const ink = luminance(solid) > 0.2 ? "#10151b" : "#ffffff";
        const text = made("text", { x: x + PADDING, y: y + ROW - 6, fill: ink, "pointer-events": "none" }, group);
        text.textContent = brief(this.label(node), room);
      }
      this.groups.set(node, group);
    }

    label(node) {
      const { change } = this.tree.data;
      const name = this.tree.isKernel(node) ? `${this.tree.label(node)} [k]` : this.tree.label(node);
      return change && node !== this.tree.root && this.changed(node) ? `${signed(change.difference_s[node])} ${name}` : name;
    }

    changed(node) {
      const { change } = this.tree.data;
      return change.is_noise[node] === false;
    }

    colour(node) {
      const { data, root } = this.tree;
      if (node === root) return data.several;
      if (!data.change) return data.work[node] < 0 ? data.several : data.colours[data.work[node]];
      if (!this.changed(node)) return data.several;
      const size = Math.abs(data.change.difference_s[node]) / data.change.largest_s;
      const tone = data.change.difference_s[node] > 0 ? data.change.more : data.change.less;
      return mixed(data.several, tone, CHANGE_MIN + (1 - CHANGE_MIN) * Math.min(1, size));
    }

    description(node) {
      const { tree } = this;
      const all = tree.total[tree.root] || 1;
      const { data } = tree;
      const module = tree.module(node);
      const parts = [module ? `${tree.label(node)} (${module})` : tree.label(node)];
      if (node !== tree.root && data.work[node] >= 0) parts.push(data.works[data.work[node]]);
      parts.push(`${grouped(tree.total[node])} samples, ${percent(tree.total[node] / all)}, ${seconds(tree.total[node] * data.seconds_each)} of CPU`);
      if (tree.own[node] && node !== tree.root) parts.push(`itself ${percent(tree.own[node] / all)}`);
      if (data.change && node !== tree.root) parts.push(this.changeWords(node));
      return parts.join(" · ");
    }

    changeWords(node) {
      const { change } = this.tree.data;
      if (change.difference_s[node] === null) return "not compared";
      const difference = `a pass ${signed(change.difference_s[node])} against ${seconds(change.theirs_s[node])}`;
      if (change.low_s[node] === null) return `${difference}, no interval`;
      return `${difference} [${signed(change.low_s[node])}, ${signed(change.high_s[node])}]${this.changed(node) ? "" : ", within noise"}`;
    }

    tell(node) {
      this.about.textContent = node === null ? HINT : this.description(node);
    }

    mark() {
      const wanted = this.search.value.trim().toLowerCase();
      const { tree } = this;
      const matches = (node) => node !== tree.root && this.label(node).toLowerCase().includes(wanted);
      for (const [node, group] of this.groups) {
        group.classList.toggle("flame-match", wanted !== "" && matches(node));
        group.classList.toggle("flame-dim", wanted !== "" && !matches(node));
      }
      const share = wanted ? tree.matched(matches) / (tree.total[tree.root] || 1) : null;
      this.matchText.textContent = share === null ? "" : share ? `${percent(share)} of the samples` : "nothing matches";
    }

    // The picture as it is now, with the page's colour behind it.
    picture() {
      const copy = this.svg.cloneNode(true);
      copy.setAttribute("xmlns", SVG);
      const behind = made("rect", { width: "100%", height: "100%", fill: this.card });
      copy.prepend(behind);
      return new XMLSerializer().serializeToString(copy);
    }

    async take(kind) {
      const name = `${document.body.dataset.run}-${this.place.id}`;
      if (kind === "folded") return this.download(new Blob([this.tree.folded()], { type: "text/plain" }), `${name}.folded.txt`);
      const blob = new Blob([this.picture()], { type: "image/svg+xml" });
      if (kind === "svg") return this.download(blob, `${name}.svg`);
      const image = new Image();
      image.src = URL.createObjectURL(blob);
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toBlob((png) => this.download(png, `${name}.png`));
    }

    download(blob, name) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
    }
  }

  // Rows of a table that hold the words; what their shares add up to is said.
  function searchTable(input) {
    const table = document.getElementById(input.dataset.searchOf);
    const matchText = document.getElementById(`${input.dataset.searchOf}-found`);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let share = 0, rows = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) { share += Number(row.dataset.share); rows += 1; }
      }
      matchText.textContent = wanted ? `${grouped(rows)} rows, ${percent(share)} of the samples` : "";
    });
  }

  for (const place of document.querySelectorAll(".flame")) new Flame(place);
  for (const input of document.querySelectorAll("[data-search-of]")) searchTable(input);
})();
