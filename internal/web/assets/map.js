// The map: notes around their projects, drawn on a canvas. Places were worked out by the
// server; here they are drawn, moved and asked about.
const canvas = document.getElementById("map");
const card = document.getElementById("map-card");
const count = document.getElementById("map-count");
const context = canvas.getContext("2d");

let graph = { nodes: [], edges: [], kinds: [] };
let near = [];            // of each node: those it is connected with
let grid = new Map();     // nodes by the square of the plane they stand in
let view = { x: 0, y: 0, scale: 1 };
let hidden = new Set(), over = -1, chosen = -1, labels = true, links = true;
let colours = {}, drawn = 0, etag = "";
const square = 60;

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["procedural", "semantic", "episodic", "text", "soft", "line", "strong", "accent", "surface"]) colours[name] = style.getPropertyValue("--" + name).trim();
}

async function load(keep) {
  const answer = await fetch("/api/graph?" + new URLSearchParams({ project: canvas.dataset.project }));
  const text = await answer.text();
  if (!answer.ok) { count.textContent = JSON.parse(text).error; return; }
  if (text === etag) return; // nothing that is drawn changed
  etag = text;
  graph = JSON.parse(text);
  near = graph.nodes.map(() => []);
  for (const [a, b] of graph.edges) { near[a].push(b); near[b].push(a); }
  grid = new Map();
  graph.nodes.forEach((n, i) => {
    const key = Math.floor(n.x / square) + "," + Math.floor(n.y / square);
    if (!grid.has(key)) grid.set(key, []);
    grid.get(key).push(i);
  });
  const notes = graph.nodes.filter((n) => n.kind === "mem");
  count.textContent = `${notes.length} notes` + (graph.left ? `, the newest; ${graph.left} are not drawn` : "");
  for (const button of document.querySelectorAll("[data-type]")) button.querySelector("b").textContent = notes.filter((n) => n.type === button.dataset.type).length;
  if (!keep) fit();
  over = chosen = -1;
  card.hidden = true;
  draw();
  canvas.dataset.ready = String(notes.length);
}

function size() {
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
}

function fit() {
  size();
  const xs = graph.nodes.map((n) => n.x), ys = graph.nodes.map((n) => n.y);
  if (!xs.length) return;
  const left = Math.min(...xs) - 40, right = Math.max(...xs) + 40, top = Math.min(...ys) - 40, bottom = Math.max(...ys) + 40;
  view.scale = Math.min(canvas.clientWidth / (right - left), canvas.clientHeight / (bottom - top), 2.5);
  view.x = (left + right) / 2;
  view.y = (top + bottom) / 2;
}

const visible = (n) => n.kind === "hub" || !hidden.has(n.type);
let asked = false;
function draw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; paint(); });
}

function paint() {
  const began = performance.now();
  const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  const { scale } = view;
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * (w / 2 - view.x * scale), ratio * (h / 2 - view.y * scale));
  const box = { l: view.x - w / 2 / scale - 20, r: view.x + w / 2 / scale + 20, t: view.y - h / 2 / scale - 20, b: view.y + h / 2 / scale + 20 };
  const inside = (n) => n.x > box.l && n.x < box.r && n.y > box.t && n.y < box.b;
  const focus = over >= 0 ? over : chosen;
  const lit = focus >= 0 ? new Set([focus, ...near[focus]]) : null;
  if (links) {
    context.lineWidth = 1 / scale;
    for (const strong of [false, true]) {
      context.beginPath();
      for (const [a, b, kind] of graph.edges) {
        if (kind === 0 && !lit) continue; // whoever stands around a project belongs to it
        const hot = lit !== null && (a === focus || b === focus);
        if (hot !== strong) continue;
        const p = graph.nodes[a], q = graph.nodes[b];
        if (!visible(p) || !visible(q) || (!inside(p) && !inside(q))) continue;
        context.moveTo(p.x, p.y);
        context.lineTo(q.x, q.y);
      }
      context.strokeStyle = strong ? colours.accent : colours.line;
      context.globalAlpha = strong ? .9 : (lit ? .3 : .8);
      context.stroke();
    }
  }
  for (const type of ["procedural", "semantic", "episodic"]) {
    if (hidden.has(type)) continue;
    context.fillStyle = colours[type] || colours.soft;
    for (const bright of lit ? [false, true] : [true]) {
      context.globalAlpha = bright ? 1 : .22;
      context.beginPath();
      graph.nodes.forEach((n, i) => {
        if (n.type !== type || !inside(n) || (lit && lit.has(i) !== bright)) return;
        const r = i === focus ? 5 : 3.2;
        context.moveTo(n.x + r, n.y);
        context.arc(n.x, n.y, r, 0, 6.2832);
      });
      context.fill();
    }
  }
  context.globalAlpha = 1;
  context.textAlign = "center";
  graph.nodes.forEach((n, i) => {
    if (n.kind !== "hub" || !inside(n)) return;
    context.fillStyle = colours.strong;
    context.beginPath();
    context.arc(n.x, n.y, 2.4, 0, 6.2832);
    context.fill();
    if (!labels || (Math.sqrt(n.members) * 9 * scale < 16 && i !== focus)) return;
    context.font = `600 ${13 / scale}px ${getComputedStyle(document.body).fontFamily}`;
    context.lineWidth = 4 / scale;
    context.strokeStyle = colours.surface;
    context.fillStyle = colours.text;
    const y = n.y - 9 * Math.sqrt(n.members + 1.5) - 8 / scale;
    context.strokeText(n.title, n.x, y);
    context.fillText(n.title, n.x, y);
  });
  if (labels && scale > 1.8) { // where there is room; one never stands on another
    context.font = `${11 / scale}px ${getComputedStyle(document.body).fontFamily}`;
    context.fillStyle = colours.soft;
    const taken = new Set();
    for (const n of graph.nodes) {
      if (n.kind !== "mem" || !inside(n) || !visible(n)) continue;
      const row = Math.round(n.y * scale / 16), from = Math.floor((n.x * scale - 80) / 20), to = Math.ceil((n.x * scale + 80) / 20);
      let free = true;
      for (let i = from; i <= to && free; i++) free = !taken.has(row + "," + i) && !taken.has(row + 1 + "," + i) && !taken.has(row - 1 + "," + i);
      if (!free) continue;
      for (let i = from; i <= to; i++) taken.add(row + "," + i);
      context.fillText(n.title.length > 26 ? n.title.slice(0, 25) + "…" : n.title, n.x, n.y + 14 / scale);
    }
  }
  drawn = performance.now() - began;
  canvas.dataset.paint = drawn.toFixed(2);
}

function at(event) {
  const box = canvas.getBoundingClientRect();
  const x = (event.clientX - box.left - canvas.clientWidth / 2) / view.scale + view.x;
  const y = (event.clientY - box.top - canvas.clientHeight / 2) / view.scale + view.y;
  let best = -1, least = Math.max(8, 8 / view.scale);
  for (let dx = -1; dx <= 1; dx++) for (let dy = -1; dy <= 1; dy++) {
    for (const i of grid.get(Math.floor(x / square) + dx + "," + (Math.floor(y / square) + dy)) ?? []) {
      const n = graph.nodes[i], d = Math.hypot(n.x - x, n.y - y);
      if (d < least && visible(n)) { best = i; least = d; }
    }
  }
  return best;
}

function zoom(by, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const next = Math.min(8, Math.max(.05, view.scale * by));
  const dx = x - canvas.clientWidth / 2, dy = y - canvas.clientHeight / 2;
  view.x += dx / view.scale - dx / next;
  view.y += dy / view.scale - dy / next;
  view.scale = next;
  draw();
}

async function choose(i) {
  chosen = i;
  draw();
  card.hidden = i < 0;
  if (i < 0) return;
  const n = graph.nodes[i];
  const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);
  const close = make("button", "×", { className: "icon", type: "button" });
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => choose(-1));
  const head = make("h2", n.title || "(untitled)");
  if (n.kind === "hub") {
    card.replaceChildren(head, make("p", `${n.members} notes`), make("a", "Browse them", { className: "button", href: "/browse?" + new URLSearchParams({ project: n.project }) }), close);
    return;
  }
  const excerpt = make("p", "…", { className: "quiet" });
  card.replaceChildren(head, make("p", `${n.type} · ${n.project.replace("github.com/", "")}`, { className: "meta" }), excerpt,
    make("a", "Open note", { className: "button primary", href: "/notes/" + encodeURIComponent(n.id) }), close);
  const note = await fetch("/api/notes/" + encodeURIComponent(n.id)).then((r) => r.json()).catch(() => ({}));
  if (chosen === i) excerpt.textContent = (note.memory?.body ?? "").replace(/```[\s\S]*?```/g, "").replace(/[#*_`>[\]]/g, "").replace(/\s+/g, " ").slice(0, 200);
}

let drag = null;
canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, moved: 0 }; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointermove", (event) => {
  if (drag) {
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    drag.moved += Math.abs(dx) + Math.abs(dy);
    drag.x = event.clientX; drag.y = event.clientY;
    view.x -= dx / view.scale; view.y -= dy / view.scale;
    draw();
    return;
  }
  const now = at(event);
  if (now !== over) { over = now; canvas.classList.toggle("over", over >= 0); canvas.title = over >= 0 ? graph.nodes[over].title : ""; draw(); }
});
canvas.addEventListener("pointerup", (event) => { if (drag && drag.moved < 5) choose(at(event)); drag = null; });
canvas.addEventListener("pointerleave", () => { over = -1; draw(); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.ctrlKey ? .01 : .0015)), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const step = 60 / view.scale;
  switch (event.key) {
    case "ArrowLeft": view.x -= step; break;
    case "ArrowRight": view.x += step; break;
    case "ArrowUp": view.y -= step; break;
    case "ArrowDown": view.y += step; break;
    case "+": case "=": zoom(1.3); break;
    case "-": zoom(1 / 1.3); break;
    case "0": fit(); break;
    case "Escape": choose(-1); break;
    default: return;
  }
  event.preventDefault();
  draw();
});
document.getElementById("map-in").addEventListener("click", () => zoom(1.4));
document.getElementById("map-out").addEventListener("click", () => zoom(1 / 1.4));
document.getElementById("map-reset").addEventListener("click", () => { fit(); draw(); });
for (const [id, change] of [["map-labels", () => { labels = !labels; return labels; }], ["map-edges", () => { links = !links; return links; }]]) {
  const button = document.getElementById(id);
  button.addEventListener("click", () => { button.setAttribute("aria-pressed", String(change())); draw(); });
}
for (const button of document.querySelectorAll("[data-type]")) {
  button.addEventListener("click", () => {
    const type = button.dataset.type, off = !hidden.has(type);
    if (off) hidden.add(type); else hidden.delete(type);
    button.setAttribute("aria-pressed", String(!off));
    draw();
  });
}
document.getElementById("map-project").addEventListener("change", (event) => {
  canvas.dataset.project = event.target.value;
  history.replaceState(null, "", "/map" + (event.target.value ? "?" + new URLSearchParams({ project: event.target.value }) : ""));
  load(false);
});
addEventListener("resize", () => { size(); draw(); });
addEventListener("theme", () => { readColours(); draw(); });
addEventListener("store", () => load(true));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
readColours();
load(false);
