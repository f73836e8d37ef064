// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Draws the report from the data in the page. Names in it come from outside and are only ever put
// into text nodes. Times are microseconds; memory over time is drawn in KiB, all other sizes are bytes.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { head, plain, planned, online, kinds, phases, causes } = data;
  const after = planned || plain;
  const GIB = 2 ** 30;
  // From the bottom of the stack: what stays for the whole step lies below what comes and goes.
  const STACK = [0, 2, 1, 3, 4, 5, 6];
  const CAUSES = {
    fetch: "waits for a value to come back", room: "waits for a value to leave",
    host: "waits for the host to issue work", drain: "waits for the last copies",
    copy: "copies by itself",
  };

  // A device that waits for its host does so without a plan too.
  const stallClass = cause => (causes[cause] === "host" ? "wait" : "stall");

  // --- Words -------------------------------------------------------------------------------------
  const round = (x, digits) => x.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const digitsFor = x => (Math.abs(x) >= 100 ? 0 : Math.abs(x) >= 10 ? 1 : 2);
  function bytes(n) {
    for (const [unit, size] of [["GiB", GIB], ["MiB", 2 ** 20], ["KiB", 1024]]) {
      if (Math.abs(n) >= size) return round(n / size, digitsFor(n / size)) + " " + unit;
    }
    return n + " B";
  }
  function time(us) {
    if (us === null || us === undefined) return "\u2013";
    for (const [unit, size] of [["s", 1e6], ["ms", 1e3]]) {
      if (Math.abs(us) >= size) return round(us / size, digitsFor(us / size)) + " " + unit;
    }
    return round(us, us === 0 || us >= 10 ? 0 : 1) + " \u00b5s";
  }
  // On an axis, "5 ms" says as much as "5.00 ms".
  const axisTime = us => us === 0 ? "0" : time(us).replace(/\.0+ /, " ").replace(/(\.\d*[1-9])0+ /, "$1 ");
  const axisBytes = n => n === 0 ? "0" : bytes(n).replace(/\.0+ /, " ").replace(/(\.\d*[1-9])0+ /, "$1 ");
  const percent = x => round(x * 100, Math.abs(x) < 0.0995 ? 1 : 0) + " %";
  // Budgets that cost next to nothing are still told apart.
  function signed(x) {
    if (Math.abs(x) < 0.00005) return "0 %";
    return (x > 0 ? "+" : "") + (Math.abs(x) < 0.00995 ? round(x * 100, 2) + " %" : percent(x));
  }
  // Figures in sentences come as plain ASCII.
  const sentence = text => text.replace(/(\d) us\b/g, "$1 \u00b5s").replace(/(\d) (?=%|\u00b5s|m?s\b|[KMG]?i?B\b)/g, "$1\u00a0");
  const nameOf = i => data.names[i];
  function opOf(id) {
    const op = data.ops[id];
    return op ? { name: nameOf(op[0]), layer: nameOf(op[1]), phase: op[2], id } : { name: "end of step", layer: "", phase: 3, id };
  }
  function opWords(id) {
    const op = opOf(id);
    return op.name + (data.ops[id] ? " (op " + id + ")" : "") + (op.layer ? " of " + op.layer : "");
  }

  // --- Elements ----------------------------------------------------------------------------------
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children.filter(child => child !== null && child !== undefined));
    return element;
  }
  function draw(tag, attributes = {}, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }
  const root = document.getElementById("report");
  function section(id, title, about, ...children) {
    const element = make("section", { id }, make("h2", {}, title), about ? make("p", { class: "soft" }, about) : null, ...children);
    root.append(element);
    return element;
  }

  // --- Tooltip -----------------------------------------------------------------------------------
  const tooltip = make("div", { id: "tooltip", role: "tooltip", hidden: "" });
  document.body.append(tooltip);
  // `lines`: a title, then texts or [class of the colour, name, amount].
  function showTooltip(event, lines) {
    tooltip.replaceChildren(...lines.map((line, i) => {
      if (Array.isArray(line)) {
        const colour = line[0] ? [make("i", { class: line[0] })] : [];
        return make("div", { class: "row" }, ...colour, make("span", {}, line[1]), make("span", {}, line[2]));
      }
      return make(i === 0 ? "b" : "div", {}, line);
    }));
    tooltip.hidden = false;
    const box = tooltip.getBoundingClientRect();
    const left = event.clientX + 16 + box.width > innerWidth ? event.clientX - box.width - 16 : event.clientX + 16;
    const top = Math.min(event.clientY + 14, innerHeight - box.height - 8);
    tooltip.style.left = Math.max(4, left) + "px";
    tooltip.style.top = Math.max(4, top) + "px";
  }
  const hideTooltip = () => { tooltip.hidden = true; };
  addEventListener("scroll", hideTooltip, { passive: true });

  // --- Scales ------------------------------------------------------------------------------------
  const WIDTH = 1120, LEFT = 74, RIGHT = 12;
  const longest = Math.max(plain.us, after.us, 1e-3);
  const view = { from: 0, to: longest };
  const xOf = us => LEFT + ((us - view.from) / (view.to - view.from)) * (WIDTH - LEFT - RIGHT);
  const usOf = x => view.from + ((x - LEFT) / (WIDTH - LEFT - RIGHT)) * (view.to - view.from);
  const clampX = x => Math.min(Math.max(x, LEFT), WIDTH - RIGHT);
  // Round numbers, about `count` of them.
  function ticks(from, to, count, base = 10) {
    const span = Math.max(to - from, 1e-9);
    const power = base ** Math.floor(Math.log(span / count) / Math.log(base));
    const steps = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
    const step = power * steps.find(s => span / (power * s) <= count + 1);
    const result = [];
    for (let t = Math.ceil(from / step - 1e-9) * step; t <= to + step * 1e-6; t += step) result.push(Math.abs(t) < step * 1e-6 ? 0 : t);
    return result;
  }

  // --- Zoom: all charts over time share it ---------------------------------------------------------
  const timeCharts = [];
  const resetButton = make("button", { id: "zoom-reset", onclick: () => zoomTo(0, longest) }, "Reset zoom");
  function zoomTo(from, to) {
    const least = longest / 5000;
    let a = Math.max(0, Math.min(from, to)), b = Math.min(longest, Math.max(from, to));
    if (b - a < least) { a = Math.max(0, (a + b - least) / 2); b = a + least; }
    view.from = a;
    view.to = b;
    document.documentElement.dataset.zoom = (longest / (b - a)).toFixed(2);
    resetButton.disabled = b - a > longest * 0.9999;
    for (const redraw of timeCharts) redraw();
    hideTooltip();
  }
  function zoomBy(factor, centre = (view.from + view.to) / 2) {
    zoomTo(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  }
  function pan(share) {
    const span = view.to - view.from;
    const from = Math.min(Math.max(0, view.from + share * span), longest - span);
    zoomTo(from, from + span);
  }
  // Drag zooms in, a double click out, Ctrl and the wheel both; arrows and +, - for the keyboard.
  function makeZoomable(svg, height, hover) {
    svg.classList.add("zoomable");
    svg.setAttribute("tabindex", "0");
    const cursor = draw("line", { class: "cursor", y1: 18, y2: height, visibility: "hidden" });
    const range = draw("rect", { class: "select", y: 18, height: height - 18, visibility: "hidden" });
    svg.append(range, cursor);
    let dragStart = null;
    const at = event => {
      const box = svg.getBoundingClientRect();
      return { x: (event.clientX - box.left) * WIDTH / box.width, y: (event.clientY - box.top) * WIDTH / box.width };
    };
    svg.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      dragStart = clampX(at(event).x);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => {
      const { x, y } = at(event);
      const inside = x >= LEFT && x <= WIDTH - RIGHT;
      cursor.setAttribute("x1", clampX(x));
      cursor.setAttribute("x2", clampX(x));
      cursor.setAttribute("visibility", inside ? "visible" : "hidden");
      if (dragStart !== null) {
        range.setAttribute("x", Math.min(dragStart, clampX(x)));
        range.setAttribute("width", Math.abs(clampX(x) - dragStart));
        range.setAttribute("visibility", "visible");
      }
      const lines = inside ? hover(usOf(x), y) : null;
      if (lines) showTooltip(event, lines); else hideTooltip();
    });
    svg.addEventListener("pointerup", event => {
      const x = clampX(at(event).x);
      range.setAttribute("visibility", "hidden");
      if (dragStart !== null && Math.abs(x - dragStart) > 4) zoomTo(usOf(dragStart), usOf(x));
      cursor.setAttribute("visibility", "hidden");
      dragStart = null;
    });
    svg.addEventListener("pointerleave", () => { cursor.setAttribute("visibility", "hidden"); hideTooltip(); });
    svg.addEventListener("dblclick", () => zoomTo(0, longest));
    svg.addEventListener("wheel", event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomBy(event.deltaY > 0 ? 1.25 : 0.8, usOf(clampX(at(event).x)));
    }, { passive: false });
    svg.addEventListener("keydown", event => {
      const act = { "+": () => zoomBy(0.7), "-": () => zoomBy(1 / 0.7), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), Escape: () => zoomTo(0, longest) }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
  }
  function timeAxis(group, y) {
    for (const t of ticks(view.from, view.to, 10)) {
      group.append(draw("line", { class: "axis", x1: xOf(t), x2: xOf(t), y1: y, y2: y + 4 }));
      group.append(draw("text", { x: xOf(t), y: y + 16, "text-anchor": "middle" }, axisTime(t)));
    }
  }
  // The last index whose start is not after `us`.
  function indexAt(starts, us) {
    let low = 0, high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= us) low = middle; else high = middle - 1;
    }
    return low;
  }
  const boxPath = (x0, x1, y0, y1) => `M${x0.toFixed(2)} ${y0}H${Math.max(x1, x0 + 0.4).toFixed(2)}V${y1}H${x0.toFixed(2)}Z`;

  // --- Head --------------------------------------------------------------------------------------
  const BASIS = {
    carried_out: ["as the run did it", "The plan is the one that the run carried out; its memory and times here are the simulator's."],
    predicted: ["prediction", "The run was kept within its budget by the online rule and had no plan. What is said of a plan is what policy \u201c" + head.policy + "\u201d would make of the same step: a prediction, not what happened." + (head.online ? " What the rule did is in the chart \u201cThe run\u201d and, for each storage, under \u201cStorages\u201d." : "")],
    simulated: ["simulated", "Memory and times are the simulator's, from the recorded step."],
    plain: ["no budget", "The step as it is, with nothing moved or recomputed."],
    refused: ["does not fit", "No plan keeps this budget, so only the plain step is shown: " + (head.reason || "") + "."],
  };
  const CPU_NOTE = " On a CPU, copies take the processor that computes, so they hide less than the simulator says.";
  const THEMES = ["auto", "light", "dark"];
  const themeButton = make("button", { id: "theme", title: "Colours: as the system has them, light or dark", onclick: () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "auto") + 1) % 3];
    if (next === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = next;
    themeButton.textContent = "Theme: " + next;
  } }, "Theme: auto");

  function card(what, value, more) {
    return make("div", { class: "card" }, make("div", { class: "what" }, what), make("div", { class: "value" }, value), make("div", { class: "more" }, more || "\u00a0"));
  }
  const many = (n, one, more) => round(n, 0) + " " + (n === 1 ? one : more);
  // What the online rule did in the recorded step, in all.
  function deedWords(toHost, fromHost) {
    const { drops, moves, fetches, replays } = head.online;
    const done = [drops && many(drops, "drop", "drops"), moves && many(moves, "move", "moves") + toHost, fetches && many(fetches, "fetch", "fetches") + fromHost, replays && many(replays, "op run again", "ops run again")];
    return done.filter(Boolean).join(", ") || "nothing had to be done";
  }
  function drawHead() {
    const [badge, about] = BASIS[head.basis];
    const facts = [head.device && "device " + head.device, !head.device && "machine " + head.machine, planned && "policy " + head.policy,
      head.batch > 0 && "batch " + head.batch, head.ops + " ops", head.storages + " storages"].filter(Boolean);
    root.append(make("div", { class: "top" },
      make("div", {}, make("h1", {}, head.title),
        make("p", {}, make("span", { class: head.basis === "predicted" || head.basis === "refused" ? "badge warn" : "badge", id: "basis" }, badge), facts.join(" \u00b7 ")),
        make("p", { class: "soft" }, about + (planned && head.device === "cpu" ? CPU_NOTE : ""))), themeButton));
    const moved = after.links.reduce((sum, lane) => sum + lane.bytes, 0);
    const stallOf = step => step.stalls.reduce((sum, us) => sum + us, 0);
    const stalled = stallOf(after);
    const cards = [];
    if (head.budget_bytes) cards.push(card("budget", bytes(head.budget_bytes), percent(head.step_budget_bytes / head.plain_peak_bytes) + " of the plain peak" + (head.outside_bytes ? ", " + bytes(head.outside_bytes) + " outside the step" : "")));
    cards.push(card("peak, plain", bytes(head.plain_peak_bytes), "reserved " + bytes(plain.reservedBytes)));
    if (online) cards.push(card("peak, the run", bytes(online.peakBytes), deedWords("", "")));
    const underPlan = head.basis === "predicted" ? "under a plan" : "under the plan";
    if (planned) cards.push(card("peak, " + underPlan, bytes(head.peak_bytes), "reserved " + bytes(planned.reservedBytes)));
    cards.push(card("step, plain", time(plain.us), "of that compute " + time(plain.computeUs)));
    if (planned) {
      cards.push(card("step, " + underPlan, time(planned.us), signed(head.overhead) + " time"));
      cards.push(card("moved", bytes(moved), "both ways, all links"));
      cards.push(card("recomputed", time(planned.recomputeUs), planned.replays + " ops ran again"));
      cards.push(card("device idle", time(stalled), percent(stalled / Math.max(planned.us, 1e-9)) + "; plain " + time(stallOf(plain))));
    }
    const measured = data.run.stepSeconds;
    if (measured.length) {
      const sorted = [...measured].sort((a, b) => a - b);
      cards.push(card("step, measured", time(sorted[sorted.length >> 1] * 1e6), measured.length === 1 ? "one step" : "median of " + measured.length + " steps, " + time(sorted[0] * 1e6) + " to " + time(sorted[sorted.length - 1] * 1e6)));
    }
    root.append(make("div", { class: "cards" }, ...cards));
  }
  function drawAdvice() {
    if (!data.advice.length) return;
    section("advice", "What to change", "Estimates from the figures of this step.",
      make("ul", { class: "advice" }, ...data.advice.map(([title, reason]) => make("li", {}, make("b", {}, title), sentence(reason)))));
  }

  // --- Memory over time ----------------------------------------------------------------------------
  const hidden = new Set();
  function memoryChart(step, title) {
    const HEIGHT = 262, TOP = 24, BOTTOM = 228;
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 6}`, role: "img", "aria-label": title + ", memory over time by kind" });
    const body = draw("g");
    svg.append(body);
    const { start, op } = step.memory;
    const columns = step.memory.kinds.map(column => column.map(n => n * step.memory.unit / 1024));
    const most = Math.max(plain.peakBytes, after.peakBytes, head.step_budget_bytes) / 1024 * 1.09;
    const yOf = kib => BOTTOM - (kib / most) * (BOTTOM - TOP);
    const ends = [...start.slice(1), step.us];
    function stackPath(below, above) {
      let up = "", down = "";
      for (let i = 0; i < start.length; ++i) {
        if (ends[i] < view.from || start[i] > view.to) continue;
        const x0 = clampX(xOf(start[i])).toFixed(2), x1 = clampX(xOf(ends[i])).toFixed(2);
        up += `L${x0} ${yOf(above[i]).toFixed(2)}L${x1} ${yOf(above[i]).toFixed(2)}`;
        down = `L${x1} ${yOf(below[i]).toFixed(2)}L${x0} ${yOf(below[i]).toFixed(2)}` + down;
      }
      return up ? "M" + up.slice(1) + down + "Z" : "";
    }
    function grid() {
      const unit = most * 1024 >= GIB ? 1024 * 1024 : 1024;
      for (const t of ticks(0, most / unit, 4)) {
        body.append(draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(t * unit), y2: yOf(t * unit) }));
        body.append(draw("text", { x: LEFT - 8, y: yOf(t * unit) + 4, "text-anchor": "end" }, axisBytes(t * unit * 1024)));
      }
    }
    function phaseStrip() {
      const paths = ["", "", "", ""];
      for (let i = 0; i < start.length; ++i) {
        if (ends[i] < view.from || start[i] > view.to || !data.ops[op[i]]) continue;
        paths[opOf(op[i]).phase] += boxPath(clampX(xOf(start[i])), clampX(xOf(ends[i])), BOTTOM + 1, BOTTOM + 6);
      }
      paths.forEach((d, phase) => d && body.append(draw("path", { class: "p" + phase, d })));
    }
    function level(kib, lineClass, textClass, label) {
      body.append(draw("line", { class: lineClass, x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(kib), y2: yOf(kib) }));
      body.append(draw("text", { class: textClass, x: WIDTH - RIGHT - 4, y: yOf(kib) - 5, "text-anchor": "end" }, label));
    }
    function redraw() {
      body.replaceChildren();
      body.append(draw("rect", { class: "frame", x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: BOTTOM - TOP }));
      body.append(draw("text", { class: "title", x: LEFT, y: 14 }, title));
      grid();
      let below = new Array(start.length).fill(0);
      for (const kind of STACK) {
        if (hidden.has(kind)) continue;
        const above = below.map((b, i) => b + columns[kind][i]);
        const d = stackPath(below, above);
        if (d) body.append(draw("path", { class: "k" + kind, d }));
        below = above;
      }
      if (head.step_budget_bytes) level(head.step_budget_bytes / 1024, "budget-line", "budget", "budget " + bytes(head.step_budget_bytes));
      if (step !== plain) level(plain.peakBytes / 1024, "plain-line", "halo", "plain peak " + bytes(plain.peakBytes));
      const peakX = xOf(step.peak.at);
      if (peakX >= LEFT && peakX <= WIDTH - RIGHT && hidden.size === 0) {
        const y = yOf(step.peakBytes / 1024);
        body.append(draw("path", { class: "peak-mark", d: `M${peakX} ${y - 2}l-5 -8h10z` }));
        const isRight = peakX > WIDTH * 0.6, lines = [head.step_budget_bytes, step === plain ? 0 : plain.peakBytes].map(n => yOf(n / 1024));
        // Neither through a line nor over what is written at its end.
        const labelY = Math.min(y - 4, ...lines.filter(at => at > y - 15 && at < y).map(at => at - 5));
        const labelX = isRight ? Math.min(peakX - 9, WIDTH - RIGHT - 130) : peakX + 9;
        body.append(draw("text", { class: "strong halo", x: labelX, y: labelY, "text-anchor": isRight ? "end" : "start" }, "peak " + bytes(step.peakBytes)));
      }
      body.append(draw("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: BOTTOM, y2: BOTTOM }));
      phaseStrip();
      timeAxis(body, BOTTOM + 7);
    }
    makeZoomable(svg, BOTTOM, us => {
      if (us > step.us) return null;
      const i = indexAt(start, us);
      const shown = [...STACK].reverse().filter(kind => columns[kind][i] > 0 && !hidden.has(kind));
      const total = shown.reduce((sum, kind) => sum + columns[kind][i], 0);
      return [opWords(op[i]), (data.ops[op[i]] ? phases[opOf(op[i]).phase] + ", " : "") + "at " + time(us), ["", "together", bytes(total * 1024)],
        ...shown.map(kind => ["k" + kind, kinds[kind], bytes(columns[kind][i] * 1024)])];
    });
    timeCharts.push(redraw);
    return svg;
  }
  function drawMemory() {
    const before = memoryChart(plain, planned ? "Before: the plain step" : "The plain step");
    const shown = planned ? memoryChart(planned, "After: under the plan of " + planned.policy + (head.basis === "predicted" ? " (prediction)" : "")) : null;
    const kept = online ? memoryChart(online, "The run: what the online rule left on the device") : null;
    const legend = make("div", { class: "legend" }, ...STACK.filter(kind => [plain, after].some(step => step.memory.kinds[kind].some(n => n > 0)))
      .map(kind => make("button", { "data-kind": kinds[kind], title: "Show or hide", onclick: event => {
        if (hidden.has(kind)) hidden.delete(kind); else hidden.add(kind);
        event.currentTarget.classList.toggle("off", hidden.has(kind));
        for (const redraw of timeCharts) redraw();
      } }, make("i", { class: "k" + kind }), kinds[kind])),
      make("span", { class: "entry soft" }, "strip below:"), ...phases.map((phase, i) => make("span", { class: "entry" }, make("i", { class: "p" + i }), phase)));
    const controls = make("div", { class: "controls" });
    const charts = Object.entries({ before, run: kept, after: shown }).filter(([, chart]) => chart);
    if (charts.length > 1) {
      const buttons = ["all", ...charts.map(([name]) => name)].map(wanted => make("button", { "data-show": wanted, "aria-pressed": wanted === "all", onclick: event => {
        for (const [name, chart] of charts) chart.style.display = ["all", name].includes(wanted) ? "" : "none";
        for (const button of buttons) button.setAttribute("aria-pressed", button === event.currentTarget);
      } }, wanted));
      controls.append(...buttons);
    }
    controls.append(make("span", { class: "gap" }), make("span", { class: "soft hint" }, "drag to zoom, double click to go back"),
      make("button", { id: "zoom-in", onclick: () => zoomBy(0.6) }, "+"), make("button", { id: "zoom-out", onclick: () => zoomBy(1 / 0.6) }, "\u2212"), resetButton);
    section("memory", "Memory over time", online ? "\u201cThe run\u201d is the plain step less what the online rule had sent away at each op of it; what ops take that run again is not in it." : null,
      controls, legend, ...charts.map(([, chart]) => chart));
  }

  // --- Lanes -------------------------------------------------------------------------------------
  const NOT_STALLED = "computing";
  function timeShares(step) {
    const compute = ["p1", NOT_STALLED, step.computeUs], again = ["replay", "recomputing", step.recomputeUs];
    return [compute, again, ...step.stalls.map((us, i) => [stallClass(i), CAUSES[causes[i]], us])].filter(([, , us]) => us > step.us * 1e-4);
  }
  function lanesChart(step) {
    const lanes = [{ name: "device", works: true }, ...step.links];
    const HEIGHT = 30, TOP = 20, height = TOP + lanes.length * (HEIGHT + 8);
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height + 22}`, role: "img", "aria-label": "What device and links are busy with over time" });
    const body = draw("g");
    svg.append(body);
    const works = step.works, gaps = step.gaps;
    const starts = { works: works.map(w => w[0]), gaps: gaps.map(g => g[0]), links: step.links.map(lane => lane.bars.map(b => b[0])) };
    const classOf = work => (work[3] === 1 ? "replay" : work[3] === 2 ? "codec" : "p" + opOf(work[2]).phase);
    function bars(list, y, classFor) {
      const paths = {};
      for (const bar of list) {
        if (bar[1] < view.from || bar[0] > view.to) continue;
        const name = classFor(bar);
        paths[name] = (paths[name] || "") + boxPath(clampX(xOf(bar[0])), clampX(xOf(bar[1])), y, y + HEIGHT);
      }
      for (const [name, d] of Object.entries(paths)) body.append(draw("path", { class: name, d }));
    }
    function redraw() {
      body.replaceChildren();
      lanes.forEach((lane, i) => {
        const y = TOP + i * (HEIGHT + 8);
        body.append(draw("rect", { class: "frame", x: LEFT, y, width: WIDTH - LEFT - RIGHT, height: HEIGHT }));
        body.append(draw("text", { class: "strong", x: LEFT - 8, y: y + HEIGHT / 2 + 4, "text-anchor": "end" }, lane.name));
        if (lane.works) {
          bars(works, y, classOf);
          bars(gaps, y, gap => stallClass(gap[2]));
        } else {
          bars(lane.bars, y, () => (lane.name.startsWith("to ") ? "lane-out" : "lane-in"));
        }
      });
      timeAxis(body, height - 6);
    }
    const within = (list, begins, us) => { const bar = list[indexAt(begins, us)]; return bar && bar[0] <= us && us <= bar[1] ? bar : null; };
    makeZoomable(svg, height - 8, (us, y) => {
      const lane = lanes[Math.floor((y - TOP) / (HEIGHT + 8))];
      if (!lane) return null;
      if (lane.works) {
        const gap = within(gaps, starts.gaps, us), work = within(works, starts.works, us);
        if (gap) return ["The device " + CAUSES[causes[gap[2]]], gap[4] !== null ? nameOf(gap[4]) : "before " + opWords(gap[3]), "for " + time(gap[1] - gap[0]) + ", before " + opWords(gap[3])];
        if (!work) return null;
        const about = work[3] === 1 ? "runs again for " + opWords(work[5]) : work[3] === 2 ? "codec" : phases[opOf(work[2]).phase];
        return [opWords(work[2]), about, time(work[1] - work[0]) + (work[4] > 1 ? ", with " + (work[4] - 1) + " neighbours" : "")];
      }
      const bar = within(lane.bars, starts.links[lanes.indexOf(lane) - 1], us);
      return bar && [nameOf(bar[2]), lane.name + ", " + bytes(bar[3]) + " in " + time(bar[1] - bar[0]), bar[4] > 1 ? "with " + (bar[4] - 1) + " neighbours" : ""];
    });
    timeCharts.push(redraw);
    return svg;
  }
  function drawLanes() {
    const shares = timeShares(after);
    const legend = make("div", { class: "legend" }, ...[...phases.map((phase, i) => ["p" + i, phase]), ["replay", "recomputing"], ["stall", "idle: waits for copies"], ["wait", "idle: waits for the host"], ["lane-out", "copies out"], ["lane-in", "copies back"]]
      .map(([name, text]) => make("span", { class: "entry" }, make("i", { class: name }), text)));
    const split = make("div", { class: "split" }, ...shares.map(([name, what, us]) => {
      const part = make("i", { class: name, onpointermove: event => showTooltip(event, [what, time(us), percent(us / after.us) + " of the step"]), onpointerleave: hideTooltip });
      part.style.width = (100 * us / after.us) + "%";
      return part;
    }));
    const words = shares.map(([, what, us]) => what + " " + time(us) + " (" + percent(us / after.us) + ")").join(" \u00b7 ");
    const links = after.links.map(lane => lane.name + ": " + bytes(lane.bytes) + ", busy " + percent(lane.busy / after.us)).join(" \u00b7 ");
    section("lanes", "Device and links", planned ? "What the device and the links to other tiers do under the plan" + (head.basis === "predicted" ? " (prediction)" : "") + "; where the device is idle, the tooltip says what it waits for." : "What the device does in the plain step.",
      legend, lanesChart(after), make("h3", {}, "Where the time goes"), split, make("p", {}, words), links ? make("p", { class: "soft" }, links) : null);
  }

  // --- The peak ------------------------------------------------------------------------------------
  function meter(kind, share) {
    const bar = make("i", { class: "bar k" + kind });
    bar.style.width = Math.max(share * 100, 0.5) + "%";
    return make("td", { class: "meter" }, bar);
  }
  function peakColumn(step, title) {
    const { peak } = step, shown = data.tellingGroups, byKind = peak.kinds;
    const split = make("div", { class: "split" }, ...STACK.filter(kind => byKind[kind] > 0).map(kind => {
      const part = make("i", { class: "k" + kind, onpointermove: event => showTooltip(event, [kinds[kind], bytes(byKind[kind]), percent(byKind[kind] / peak.bytes) + " of the peak"]), onpointerleave: hideTooltip });
      part.style.width = (100 * byKind[kind] / peak.bytes) + "%";
      return part;
    }));
    const largest = peak.groups.length ? peak.groups[0][3] : 1;
    const rest = peak.bytes - peak.groups.slice(0, shown).reduce((sum, group) => sum + group[3], 0);
    const rows = peak.groups.slice(0, shown).map(([place, kind, count, size]) => make("tr", {}, make("td", { class: "name" }, nameOf(place)), make("td", {}, kinds[kind] + (count > 1 ? " \u00d7" + count : "")), make("td", { class: "number" }, bytes(size)), meter(kind, size / largest)));
    if (rest > 0) rows.push(make("tr", {}, make("td", {}, "and smaller ones"), make("td", {}), make("td", { class: "number" }, bytes(rest)), make("td", {})));
    const items = make("details", {}, make("summary", {}, "The " + peak.items.length + " largest of " + peak.count + " storages"),
      make("table", {}, make("tbody", {}, ...peak.items.map(([name, place, kind, size]) => make("tr", {}, make("td", { class: "name" }, nameOf(name)), make("td", { class: "name" }, nameOf(place)), make("td", {}, kinds[kind]), make("td", { class: "number" }, bytes(size)))))));
    const again = peak.running !== peak.op ? ", while " + opWords(peak.running) + " runs again for it" : "";
    return make("div", {}, make("h3", {}, title), make("p", {}, make("b", {}, bytes(peak.bytes)), " at " + opWords(peak.op) + again + ", " + time(peak.at) + " into the step."), split,
      make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "layer or block, or what made it"), make("th", {}, "kind"), make("th", { class: "number" }, "size"), make("th", {}))), make("tbody", {}, ...rows)), items);
  }
  function drawPeak() {
    section("peak", "The peak explained", "What lies on the device at the fullest moment, by layer, or by block where there are many layers.",
      make("div", { class: "columns" }, peakColumn(plain, planned ? "Before" : "The plain step"), planned ? peakColumn(planned, "After") : null));
  }

  // --- Tables --------------------------------------------------------------------------------------
  // `columns`: [title, value of a row (for sorting), cell of a row, class].
  function sortableTable(id, columns, rows, most) {
    let order = null, falling = true, all = false, wanted = "";
    const headCells = columns.map(([title, , , name], i) => make("th", { class: "sortable " + (name || ""), scope: "col", tabindex: "0", onclick: () => sortBy(i), onkeydown: event => { if (event.key === "Enter") sortBy(i); } }, title));
    const body = make("tbody", {}), more = make("button", { onclick: () => { all = !all; fill(); } });
    const filter = make("input", { type: "search", size: 30, placeholder: "filter by name, layer, kind \u2026", "aria-label": "filter", oninput: event => { wanted = event.target.value.toLowerCase(); fill(); } });
    function sortBy(i) {
      falling = order === i ? !falling : true;
      order = i;
      headCells.forEach((cell, k) => { if (k === i) cell.setAttribute("aria-sort", falling ? "descending" : "ascending"); else cell.removeAttribute("aria-sort"); });
      fill();
    }
    function fill() {
      let shown = wanted ? rows.filter(row => columns.some(([, value]) => String(value(row)).toLowerCase().includes(wanted))) : [...rows];
      if (order !== null) {
        const value = columns[order][1];
        const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
        shown.sort((a, b) => {
          const x = value(a), y = value(b);
          if (x === null || y === null) return (x === null) - (y === null);
          return falling ? compare(y, x) : compare(x, y);
        });
      }
      const count = shown.length;
      if (!all) shown = shown.slice(0, most);
      body.replaceChildren(...shown.map(row => make("tr", {}, ...columns.map(([, , cell, name]) => make("td", { class: name || "" }, cell(row))))));
      more.textContent = all ? "Show fewer" : "Show all " + count;
      more.hidden = count <= most;
    }
    fill();
    return [make("div", { class: "controls" }, filter, more), make("div", { class: "scroll" }, make("table", { id }, make("thead", {}, make("tr", {}, ...headCells)), body))];
  }
  // Of a run without a plan the table says what happened, not what the charts predict.
  function onlineWords() {
    const { replays, replay_seconds } = head.online;
    return "What the online rule did with the large ones in the recorded step, and why: " + deedWords(" to the host", " from there") + (replays ? " in " + time(replay_seconds * 1e6) : "")
      + ". \u201cRecompute\u201d is what the rule took that to cost when it first sent the storage away (of one that stayed: the ops that would have had to run again), \u201cmove\u201d the copy out and back, \u201cidle\u201d the longest time between two uses, \u201cwaited for\u201d its copies by the link\u2019s measured speed: the rule copies when an op waits for it.";
  }
  function drawStorages() {
    const columns = [
      ["storage", r => nameOf(r[0]), r => nameOf(r[0]), "name"], ["layer", r => nameOf(r[1]), r => nameOf(r[1]), "name"],
      ["kind", r => kinds[r[2]], r => make("span", {}, kinds[r[2]])], ["size", r => r[3], r => bytes(r[3]), "number"],
      ["what was done", r => nameOf(r[4]), r => nameOf(r[4])], ["recompute", r => r[5], r => time(r[5]), "number"], ["move", r => r[6], r => time(r[6]), "number"],
      ["idle", r => r[7], r => time(r[7]), "number"], ["waited for", r => r[9], r => (r[9] > 0 ? time(r[9]) : r[8] > 0 ? "hidden" : "\u2013"), "number"], ["why", r => r[11], r => sentence(r[11]), "why"],
    ];
    section("storages", "Storages", head.online ? onlineWords() : "The large ones: what was done with each and why. \u201cRecompute\u201d is the time of the ops that would have to run again at its next use, \u201cmove\u201d that of the copy out and back, \u201cidle\u201d the longest time between two uses, \u201cwaited for\u201d what the device lost to its copies.",
      ...sortableTable("storage-table", columns, data.storages, 30)).classList.add("long");
  }

  // --- Prices ----------------------------------------------------------------------------------------
  function priceChart(points) {
    const HEIGHT = 240, TOP = 16, BOTTOM = 200;
    const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Step time by budget" });
    const low = Math.min(...points.map(p => p.budget)), high = Math.max(...points.map(p => p.budget));
    const slow = Math.max(...points.map(p => p.us)), quick = Math.min(...points.map(p => p.us));
    const x = b => LEFT + 10 + ((b - low) / Math.max(high - low, 1)) * (WIDTH - LEFT - RIGHT - 30);
    const span = Math.max(slow - quick, slow * 0.02);
    const y = us => BOTTOM - 8 - ((us - quick) / span) * (BOTTOM - TOP - 16);
    svg.append(draw("rect", { class: "frame", x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: BOTTOM - TOP }));
    for (const t of ticks(quick, quick + span, 4)) {
      svg.append(draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(t), y2: y(t) }), draw("text", { x: LEFT - 8, y: y(t) + 4, "text-anchor": "end" }, axisTime(t)));
    }
    const unit = high >= GIB ? GIB : 2 ** 20;
    for (const t of ticks(low / unit, high / unit, 8)) {
      svg.append(draw("line", { class: "axis", x1: x(t * unit), x2: x(t * unit), y1: BOTTOM, y2: BOTTOM + 4 }), draw("text", { x: x(t * unit), y: BOTTOM + 17, "text-anchor": "middle" }, axisBytes(t * unit)));
    }
    svg.append(draw("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }, "budget"));
    svg.append(draw("path", { class: "curve", d: points.map((p, i) => (i ? "L" : "M") + x(p.budget).toFixed(1) + " " + y(p.us).toFixed(1)).join("") }));
    for (const p of points) {
      const isPlain = p.budget === high;
      const label = isPlain ? "plain" : p.shown ? "this budget" : "";
      if (label) svg.append(draw("text", { class: p.shown ? "budget" : "strong", x: x(p.budget) + (isPlain ? -8 : 8), y: y(p.us) - (isPlain ? 14 : 8), "text-anchor": isPlain ? "end" : "start" }, label));
      svg.append(draw("circle", { class: p.shown ? "dot shown" : "dot", cx: x(p.budget), cy: y(p.us), r: p.shown ? 5.5 : 4 }));
      const hot = draw("circle", { class: "hot", cx: x(p.budget), cy: y(p.us), r: 14 });
      hot.addEventListener("pointermove", event => showTooltip(event, [bytes(p.budget), ["", "step", time(p.us)], ["", "over plain", signed(p.us / plain.us - 1)], ["", "moved", bytes(p.moved)], ["", "recomputed", time(p.recomputeUs)]]));
      hot.addEventListener("pointerleave", hideTooltip);
      svg.append(hot);
    }
    return svg;
  }
  function drawPrices() {
    const points = data.prices.filter(p => p.us !== undefined), refused = data.prices.filter(p => p.us === undefined);
    if (points.length < 2) return;
    const [unit, size] = plain.peakBytes >= GIB ? ["GiB", GIB] : ["MiB", 2 ** 20];
    const rows = points.map((p, i) => {
      const next = points[i + 1], price = next ? (p.us - next.us) / ((next.budget - p.budget) / size) : null;
      return make("tr", { class: p.shown ? "shown" : "" }, make("td", { class: "number" }, bytes(p.budget)), make("td", { class: "number" }, percent(p.budget / plain.peakBytes)), make("td", { class: "number" }, time(p.us)), make("td", { class: "number" }, signed(p.us / plain.us - 1)),
        make("td", { class: "number" }, next ? (price > 0 ? time(price) : "nothing") : "\u2013"), make("td", {}, p.shown ? "this budget" : p.budget === points[points.length - 1].budget ? "as it is, nothing done" : ""));
    });
    const least = refused.length ? Math.max(...refused.map(p => p.budget)) : 0;
    section("prices", "The price of a smaller budget", "The same step planned for other budgets with a short search, so longer thinking may find better plans. The last column but one is what each further " + unit + " saves from there to the next row.",
      priceChart(points), make("div", { class: "scroll" }, make("table", { id: "price-table" }, make("thead", {}, make("tr", {}, ...["budget", "of the plain peak", "step", "over plain", "each further " + unit + " saves"].map(title => make("th", { class: "number" }, title)), make("th", {}))), make("tbody", {}, ...rows))),
      least ? make("p", { class: "soft" }, "No plan was found for " + bytes(least) + " and less; a single op needs " + bytes(head.working_set_bytes) + ".") : null);
  }

  // --- Policies --------------------------------------------------------------------------------------
  function drawPolicies() {
    if (!data.policies.length) return;
    const worst = Math.max(...data.policies.filter(p => p.us !== undefined).map(p => p.us / plain.us - 1), 1e-6);
    const rows = data.policies.map(p => {
      if (p.us === undefined) return make("tr", {}, make("td", {}, p.policy), make("td", { class: "why", colspan: "7" }, "does not fit; needs " + bytes(p.smallest) + ": " + p.reason));
      const over = p.us / plain.us - 1, bar = make("i", { class: "bar " + (p.shown ? "stall" : "lane-out") });
      bar.style.width = Math.max(1, 100 * Math.max(over, 0) / worst) + "%";
      return make("tr", { class: p.shown ? "shown" : "" }, make("td", {}, p.policy + (p.shown ? " (shown)" : "")), make("td", { class: "number" }, time(p.us)), make("td", { class: "number" }, signed(over)), make("td", { class: "meter" }, bar), make("td", { class: "number" }, bytes(p.peak)), make("td", { class: "number" }, p.moved ? bytes(p.moved) : "\u2013"), make("td", { class: "number" }, p.recomputeUs > 0 ? time(p.recomputeUs) : "\u2013"), make("td", { class: "number" }, p.stallUs > 0 ? time(p.stallUs) : "\u2013"));
    });
    section("policies", "Other policies at this budget", "Each as published, with its default options, on the same simulator; searches were cut short after a second or two.",
      make("div", { class: "scroll" }, make("table", { id: "policy-table" }, make("thead", {}, make("tr", {}, make("th", {}, "policy"), ...["step", "over plain"].map(t => make("th", { class: "number" }, t)), make("th", {}), ...["peak", "moved", "recomputed", "idle"].map(t => make("th", { class: "number" }, t)))), make("tbody", {}, ...rows))));
  }

  // --- The run ---------------------------------------------------------------------------------------
  function stepsChart(seconds) {
    const HEIGHT = 90, most = Math.max(...seconds) * 1.05 || 1, each = (WIDTH - LEFT - RIGHT) / seconds.length;
    const svg = draw("svg", { viewBox: `0 -6 ${WIDTH} ${HEIGHT + 26}`, role: "img", "aria-label": "Seconds of each step" });
    svg.append(draw("rect", { class: "frame", x: LEFT, y: 0, width: WIDTH - LEFT - RIGHT, height: HEIGHT }));
    svg.append(draw("path", { class: "lane-out", d: seconds.map((s, i) => `M${(LEFT + i * each).toFixed(2)} ${HEIGHT}v${(-HEIGHT * s / most).toFixed(2)}h${Math.max(each * 0.85, 0.5).toFixed(2)}V${HEIGHT}Z`).join("") }));
    for (const t of ticks(0, most, 2)) svg.append(draw("text", { x: LEFT - 8, y: HEIGHT - HEIGHT * t / most + 4, "text-anchor": "end" }, axisTime(t * 1e6)));
    svg.append(draw("text", { x: LEFT, y: HEIGHT + 14 }, "step " + (data.run.steps - seconds.length + 1)), draw("text", { x: WIDTH - RIGHT, y: HEIGHT + 14, "text-anchor": "end" }, "step " + data.run.steps));
    svg.addEventListener("pointermove", event => {
      const box = svg.getBoundingClientRect(), i = Math.floor(((event.clientX - box.left) * WIDTH / box.width - LEFT) / each);
      if (seconds[i] !== undefined) showTooltip(event, ["step " + (data.run.steps - seconds.length + i + 1), time(seconds[i] * 1e6)]); else hideTooltip();
    });
    svg.addEventListener("pointerleave", hideTooltip);
    return svg;
  }
  function drawRun() {
    const entries = Object.entries(data.run.statistics).filter(([, value]) => value !== 0 && value !== "");
    if (!entries.length && !data.run.stepSeconds.length) return;
    const words = ([name, value]) => (typeof value === "string" ? value : name.endsWith("_bytes") || name.startsWith("bytes_") ? bytes(value) : name.endsWith("_seconds") ? time(value * 1e6) : value.toLocaleString("en"));
    // Of `peak_bytes` and `plan_seconds` the amount already says the unit.
    const label = name => name.replace(/_bytes$/, "").replace(/_seconds$/, "_time").replaceAll("_", " ");
    section("run", "What the run did", "Measured by the session itself, from its beginning to its end.",
      data.run.stepSeconds.length > 1 ? stepsChart(data.run.stepSeconds) : null,
      make("div", { class: "columns" }, ...[0, 1].map(half => make("table", {}, make("tbody", {}, ...entries.filter((_, i) => i % 2 === half).map(entry => make("tr", {}, make("td", { class: "name" }, label(entry[0])), make("td", { class: typeof entry[1] === "string" ? "words" : "number" }, words(entry)))))))));
  }

  drawHead();
  drawAdvice();
  drawMemory();
  drawLanes();
  drawPeak();
  drawStorages();
  drawPrices();
  drawPolicies();
  drawRun();
  root.append(make("footer", {}, "Made by Lowtide. This file is complete in itself and loads nothing."));
  zoomTo(0, longest);
})();
