import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html } from './html.ts';

describe('html', () => {
  it('escapes text for elements and quoted attributes', () => {
    expect(html`<a title="${`"'<>&`}">${'<b>'}</a>`.markup).toBe(
      '<a title="&quot;&#39;&lt;&gt;&amp;">&lt;b&gt;</a>',
    );
  });

  it('keeps markup, lists of markup and numbers, and leaves out what is undefined', () => {
    const items = [html`<i>${1}</i>`, html`<i>${2}</i>`];
    expect(html`<p>${items}${undefined}${html`<br>`}</p>`.markup).toBe(
      '<p><i>1</i><i>2</i><br></p>',
    );
  });

  it('never lets text open a tag or leave an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const inserted = html`${text}`.markup;
        expect(inserted).not.toMatch(/[<>"']/);
      }),
    );
  });
});
