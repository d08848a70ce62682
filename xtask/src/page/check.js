// Loads PAGE into a frame of each width, checks it, and writes defects into #verdict. The last line is `end`.
"use strict";

const WIDTHS = [320, 360, 400, 768, 800, 1280, 1400];
// Minimum size of letters in charts, in pixels.
const MIN_LETTERS = 9;
const lines = [];

// Whether two boxes overlap by more than the margin around letters.
function overlap(a, b) {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    return across > 2 && down > 0.3 * Math.min(a.height, b.height);
}

// Checks the letters of a chart: position, size and overlaps.
function letters(drawing, frame, wrong) {
    const border = drawing.getBoundingClientRect();
    const scale = drawing.viewBox ? border.width / drawing.viewBox.baseVal.width : 1;
    const placed = [];
    for (const text of drawing.querySelectorAll("text, th")) {
        const box = text.getBoundingClientRect();
        const label = JSON.stringify(text.textContent.slice(0, 40));
        if (box.width === 0) continue;
        const out = Math.max(border.left - box.left, box.right - border.right,
            border.top - box.top, box.bottom - border.bottom);
        if (out > 1) wrong(`text ${label} is ${out.toFixed(1)} pixels out of its chart`);
        const size = parseFloat(frame.getComputedStyle(text).fontSize) * scale;
        const least = frame.innerWidth < 360 ? MIN_LETTERS - 1 : MIN_LETTERS;
        if (size < least) wrong(`text ${label} is ${size.toFixed(1)} pixels high`);
        for (const [other, name] of placed) {
            if (overlap(box, other)) wrong(`text ${label} is over ${name}`);
        }
        placed.push([box, label]);
    }
    return placed.length;
}

function check(frame) {
    const page = frame.document;
    const width = frame.innerWidth;
    const wrong = (defect) => lines.push(`wrong: at ${width} pixels: ${defect}`);
    const across = page.scrollingElement.scrollWidth;
    if (across > width) {
        wrong(`the page scrolls sideways: it is ${across} pixels wide`);
        for (const part of page.querySelectorAll("body *")) {
            const beyond = part.getBoundingClientRect().right > width + 1;
            if (beyond && !part.closest(".scroll *, svg *")) wrong(`<${part.localName} class="${part.className}"> is too wide`);
        }
    }
    if (page.querySelector("script")) wrong("there is a script");
    for (const loaded of frame.performance.getEntriesByType("resource")) wrong(`it loads ${loaded.name}`);
    let charts = 0, texts = 0;
    const figures = page.querySelectorAll("figure");
    for (const part of page.querySelectorAll("figure, section, main, nav, h1")) {
        const box = part.getBoundingClientRect();
        if (box.width === 0 || box.height === 0) wrong(`<${part.localName} id="${part.id}"> is invisible`);
    }
    for (const chart of page.querySelectorAll(".chart")) {
        const name = chart.closest("figure, section").id;
        const shown = [...chart.querySelectorAll("[role=img]")]
            .filter((drawing) => drawing.getBoundingClientRect().height > 20);
        if (shown.length !== 1) wrong(`${name} shows ${shown.length} drawings of its chart`);
        for (const drawing of shown) texts += letters(drawing, frame, (defect) => wrong(`${name}: ${defect}`));
        charts += shown.length;
    }
    for (const cell of page.querySelectorAll("td.number:not(:has(.refused)), tbody th")) {
        if (cell.scrollWidth > cell.clientWidth + 1) wrong(`the cell ${JSON.stringify(cell.textContent)} is cut off`);
    }
    if (figures.length === 0) wrong("there is no figure");
    lines.push(`${width} pixels: ${figures.length} figures, ${charts} charts with ${texts} texts`);
}

function next(left) {
    if (left.length === 0) {
        lines.push("end");
        document.getElementById("verdict").textContent = lines.join("\n");
        return;
    }
    const frame = document.createElement("iframe");
    frame.style.cssText = `width: ${left[0]}px; height: 1000px; border: 0`;
    frame.onload = () => {
        try {
            check(frame.contentWindow);
        } catch (error) {
            lines.push(`wrong: at ${left[0]} pixels: ${error}`);
        }
        frame.remove();
        next(left.slice(1));
    };
    frame.srcdoc = PAGE;
    document.body.append(frame);
}

next(WIDTHS);
