/**
 * The script of the platform's page: it writes what has changed, every two seconds while the page is seen.
 *
 * @module
 */

import { PLATFORM_PATH } from './platform-page.ts';

/** Served as its own file. Text goes into the page as text alone. */
export const PLATFORM_SCRIPT: string = `const write = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};
const show = ({ summary, isWell, actors }) => {
  const line = document.getElementById('summary');
  write(line, summary);
  line.classList.toggle('good', isWell);
  for (const { name, state, isOver, ...words } of actors) {
    const card = document.getElementById(name);
    card.dataset.state = state;
    for (const [field, text] of Object.entries(words)) write(card.querySelector('[data-is=' + field + ']'), text);
    const error = card.querySelector('.error');
    error.hidden = words.error === '';
    error.classList.toggle('over', isOver);
  }
};
const read = async () => {
  if (document.hidden) return;
  const answer = await fetch('${PLATFORM_PATH}.json', { headers: { accept: 'application/json' } }).catch(() => undefined);
  document.getElementById('stale').hidden = answer?.ok === true;
  if (answer?.ok) show(await answer.json());
};
setInterval(read, 2000);
addEventListener('visibilitychange', read);
addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
`;
