"use strict";
// Zoom, search and names of a flame graph. Frames stand in the file before what they call.
const SVG = "http://www.w3.org/2000/svg";
const picture = document.getElementById("frames");
const character = Number(picture.dataset.character);
const width = picture.width.baseVal.value;
const caption = document.getElementById("caption");
const matched = document.getElementById("matched");
const search = document.getElementById("search");
const greeting = caption.textContent;

const frames = Array.from(picture.children, (group) => {
  const [title, rect, text] = group.children;
  const [label, figures] = title.textContent.split("\n");
  return { group, label, figures, rect, text,
           x: Number(group.dataset.x), w: Number(group.dataset.w) };
});
const all = frames[0];
// Shares are rounded to seven digits.
const EPSILON = 2e-7;

function name(frame, left, wide) {
  const room = Math.floor((wide * width - 4) / character);
  if (room < 3) {
    frame.text?.remove();
    frame.text = null;
    return;
  }
  if (!frame.text) {
    frame.text = document.createElementNS(SVG, "text");
    frame.text.setAttribute("y", Number(frame.rect.getAttribute("y")) + 12);
    frame.group.append(frame.text);
  }
  frame.text.setAttribute("x", left * width + 3);
  frame.text.textContent =
    frame.label.length > room ? frame.label.slice(0, room - 1) + "…" : frame.label;
}

function zoom(to) {
  const end = to.x + to.w;
  const level = Number(to.rect.getAttribute("y"));
  for (const frame of frames) {
    const below = Number(frame.rect.getAttribute("y")) > level;
    const over = below && frame.x <= to.x + EPSILON && frame.x + frame.w >= end - EPSILON;
    const inside = !below && frame.x >= to.x - EPSILON && frame.x + frame.w <= end + EPSILON;
    frame.group.classList.toggle("above", over);
    frame.group.classList.toggle("away", !over && !inside);
    if (!over && !inside) continue;
    const left = over ? 0 : Math.max(0, (frame.x - to.x) / to.w);
    const wide = over ? 1 : Math.min(1 - left, frame.w / to.w);
    frame.rect.setAttribute("x", `${100 * left}%`);
    frame.rect.setAttribute("width", `${100 * wide}%`);
    name(frame, left, wide);
  }
}

function find() {
  let pattern = null;
  matched.textContent = "";
  try {
    pattern = search.value ? new RegExp(search.value, "i") : null;
  } catch {
    matched.textContent = "not a regular expression";
  }
  let share = 0;
  let counted = -1;
  for (const frame of frames) {
    const found = pattern !== null && frame !== all && pattern.test(frame.label);
    frame.group.classList.toggle("found", found);
    // What a found frame calls is in its own width already.
    if (found && frame.x + frame.w > counted + EPSILON) {
      share += frame.w;
      counted = frame.x + frame.w;
    }
  }
  if (pattern) matched.textContent = `found in ${(100 * share).toFixed(1)} % of samples`;
}

function frameOf(event) {
  const group = event.target.closest("#frames > g");
  return group && frames.find((frame) => frame.group === group);
}

picture.addEventListener("click", (event) => {
  const frame = frameOf(event);
  if (frame) zoom(frame);
});
picture.addEventListener("mouseover", (event) => {
  const frame = frameOf(event);
  caption.textContent = frame ? `${frame.label}: ${frame.figures}` : greeting;
});
picture.addEventListener("mouseleave", () => { caption.textContent = greeting; });
search.addEventListener("input", find);
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") zoom(all);
  if (event.key === "f" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    search.focus();
  }
});
zoom(all);
