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
/** Shows the beat of a call that was admitted. */
const beat = (card) => {
  card.classList.remove('beat');
  void card.offsetWidth;
  card.classList.add('beat');
};
/** Links are made anew only when they differ, so that one keeps the focus. */
const showFailing = (names) => {
  const line = document.getElementById('failing');
  line.hidden = names.length === 0;
  const list = line.querySelector('span');
  if ([...list.children].map((link) => link.textContent).join() === names.join()) return;
  list.replaceChildren(...names.map((name) => {
    const link = document.createElement('a');
    link.href = '#' + name;
    link.textContent = name;
    return link;
  }));
};
const show = ({ summary, mood, failing, actors }) => {
  showFailing(failing);
  const line = document.getElementById('summary');
  write(line, summary);
  line.dataset.mood = mood;
  for (const { name, state, isOver, life, ...words } of actors) {
    const card = document.getElementById(name);
    card.dataset.state = state;
    const rest = card.querySelector('progress');
    rest.value = life;
    card.querySelector('.life').hidden = life === 0;
    if (state === 'calling' && card.querySelector('[data-is=calls]').textContent !== words.calls) beat(card);
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
