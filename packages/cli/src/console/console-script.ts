/**
 * The script of the console's page: how long the session lasts, and signing in again without losing what was typed.
 *
 * @module
 */

/**
 * What any application does to have people sign in again in a pop-up; `docs/single-page-apps.md` shows
 * these very lines. The page brings `onSignedIn` and `onOtherAccount`.
 */
export const SIGN_IN_AGAIN_SNIPPET = `let account, popup; // who works in this page, as an opaque text; the window it waits for
const readSession = async () => {
  const session = await (await fetch('/auth/session')).json();
  account ??= session.account; return session;
};
const signInAgain = () => (popup = open('/login?mode=popup', 'sign-in', 'popup,width=480,height=640')); // from a click
const channel = new BroadcastChannel('sallyport');
channel.onmessage = ({ data: { type, account: who } }) => type === 'sallyport:signed-in' && (who === (account ??= who)
  ? (popup &&= void channel.postMessage({ type: 'sallyport:go-on' }), onSignedIn())
  : (popup && channel.postMessage({ type: 'sallyport:other-account' }), onOtherAccount()));
`;

/** Served as its own file, so that the policy needs no exception for inline script. */
export const CONSOLE_SCRIPT: string = `${SIGN_IN_AGAIN_SNIPPET}
const element = (id) => document.getElementById(id);
const write = (seconds) => {
  const units = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const parts = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [size, name] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(count + ' ' + name);
  }
  return parts.slice(0, 2).join(' ') || '0 s';
};
let session;
let readAt = 0;
const showTimes = () => {
  if (!session) return;
  const passed = (performance.now() - readAt) / 1000;
  element('age').textContent = write(session.age + passed);
  element('left').textContent = write(session.expires_in - passed);
  if (session.expires_in - passed <= 0) void read();
};
/** Shows one of the banners, or none. Nothing else on the page changes: a person may be typing. */
const showBanner = (shown) => {
  for (const id of ['ended', 'other']) element(id).hidden = id !== shown;
  element('session').hidden = shown !== undefined;
};
const read = async () => {
  const answer = await readSession().catch(() => undefined);
  // No answer at the moment does not end the session.
  if (answer?.authenticated === undefined) return;
  session = answer.authenticated ? answer : undefined;
  readAt = performance.now();
  showBanner(!session ? 'ended' : session.account === account ? undefined : 'other');
  showTimes();
};
const onSignedIn = () => void read();
const onOtherAccount = () => showBanner('other');
for (const button of document.querySelectorAll('.again')) button.onclick = signInAgain;
void read();
setInterval(showTimes, 1000);
setInterval(read, 30000);
// Timers of a background tab are slowed down: ask when it becomes visible.
addEventListener('visibilitychange', () => { if (!document.hidden) void read(); });
addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
`;
