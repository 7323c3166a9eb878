import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../testing/any-text.ts';
import { html } from './html.ts';

describe('html', () => {
  it('escapes text, and leaves markup made by itself alone', () => {
    const inner = html`<b>${'<i>'}</b>`;
    expect(html`<p title="${'"x" & \'y\''}">${inner}${[inner, html`!`]}</p>`.toString()).toBe(
      '<p title="&quot;x&quot; &amp; &#39;y&#39;"><b>&lt;i&gt;</b><b>&lt;i&gt;</b>!</p>',
    );
  });

  it('does not take a text for markup, also when it looks escaped already', () => {
    expect(html`${'&lt;'}`.toString()).toBe('&amp;lt;');
    expect(html`${String(html`<b>`)}`.toString()).toBe('&lt;b&gt;');
  });

  it('lets no text out of an element or a quoted attribute', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const markup = html`${text}`.toString();
        expect(markup).not.toMatch(/[<>"']/);
        const decoded = markup
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        expect(decoded).toBe(text);
      }),
      { numRuns: 300 },
    );
  });
});
