/**
 * A browser as a program: `opener.ts RECORD LOGIN PASSWORD-FILE URL` writes down what it was given,
 * follows the address, signs in where a form asks, and follows on to the end.
 *
 * @module
 */

import { appendFileSync, readFileSync } from 'node:fs';
import { Browser } from '../wire/browser.ts';

const [record = '', login = '', passwordFile = '', url = ''] = process.argv.slice(2);
const note = (what: object): void => appendFileSync(record, `${JSON.stringify(what)}\n`);
note({ argv: process.argv.slice(2), environment: process.env });
const browser = new Browser();
let page = await browser.visit(url);
if (login !== '') {
  const line = readFileSync(passwordFile, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${login} `));
  page = await browser.submit(page, { login, password: line?.split(' ')[1] ?? '' });
}
note({ status: page.status, url: page.url, headers: page.headers, body: page.body });
