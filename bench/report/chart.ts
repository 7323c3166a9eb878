/**
 * A report as a chart: one bar for each candidate of each case, in dark and in light.
 *
 * @module
 */

import { formatNumber } from './format.ts';
import type { CaseReport, Measured, Report } from './report.ts';

const WIDTH = 860;
const LABELS = 250;
const NUMBERS = 110;
const BAR = 18;
const STEP = 24;
const HEAD = 34;
const GAP = 14;
const TOP = 46;

const STYLE = `
  svg { font: 13px system-ui, sans-serif; color-scheme: light dark; }
  .ground { fill: #ffffff; } .text { fill: #1f2328; } .dim { fill: #59636e; }
  .own { fill: #0b6bcb; } .other { fill: #8c959f; } .spread { stroke: #1f2328; stroke-width: 1.5; }
  .title { font-weight: 600; } .number { font-variant-numeric: tabular-nums; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; } .text { fill: #e6edf3; } .dim { fill: #9198a1; }
    .own { fill: #4493f8; } .other { fill: #656c76; } .spread { stroke: #e6edf3; }
  }
`;

/** Draws the rates of all cases that have some. Whiskers go from the least round to the most. */
export function renderChart(report: Report): string {
  const cases = report.cases.filter(
    ({ measured, hasRatesToShow = true }) => hasRatesToShow && measured.length > 0,
  );
  const heights = cases.map(({ measured }) => HEAD + measured.length * STEP + GAP);
  const height = TOP + heights.reduce((sum, each) => sum + each, 0);
  let y = TOP;
  const drawn = cases.map((each, index) => {
    const block = drawCase(each, y);
    y += heights[index] ?? 0;
    return block;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title">
<title id="title">Requests a second on one core, by case</title>
<style>${STYLE}</style>
<rect class="ground" width="${WIDTH}" height="${height}"/>
<text class="text title" x="16" y="28">Requests a second on one core</text>
${drawn.join('\n')}
</svg>
`;
}

/** Bars of one case share a scale, and no two cases do: rates of different things are not compared. */
function drawCase({ title, measured }: CaseReport, top: number): string {
  const most = Math.max(...measured.map(({ requestsPerSecond }) => requestsPerSecond.most));
  const scale = (WIDTH - LABELS - NUMBERS) / most;
  return [
    `<text class="text title" x="16" y="${top + 18}">${escapeText(title.replaceAll('`', ''))}</text>`,
    ...measured.map((each, index) => drawBar(each, top + HEAD + index * STEP, scale)),
  ].join('\n');
}

function drawBar({ name, requestsPerSecond }: Measured, top: number, scale: number): string {
  const { median, least, most } = requestsPerSecond;
  const middle = top + BAR / 2;
  const at = (value: number) => (LABELS + value * scale).toFixed(1);
  return [
    `<text class="dim" x="${LABELS - 10}" y="${middle + 4}" text-anchor="end">${escapeText(name)}</text>`,
    `<rect class="${name.startsWith('Sallyport') ? 'own' : 'other'}" x="${LABELS}" y="${top}" width="${(median * scale).toFixed(1)}" height="${BAR}" rx="2"/>`,
    `<line class="spread" x1="${at(least)}" x2="${at(most)}" y1="${middle}" y2="${middle}"/>`,
    `<text class="text number" x="${WIDTH - 16}" y="${middle + 4}" text-anchor="end">${formatNumber(median)}</text>`,
  ].join('\n');
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
