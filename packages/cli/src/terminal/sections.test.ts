import { describe, expect, it } from 'vitest';
import { formatSection, joinSections } from './sections.ts';

describe('Sections of a command’s output', () => {
  it('have a heading, and columns as wide as their widest cell, without spaces at the end', () => {
    const rows = [
      ['a', 'one', ''],
      ['long', 'x', 'end'],
    ];
    expect(formatSection('Head', rows)).toEqual(['Head:', '  a     one', '  long  x    end']);
  });

  it('are apart by an empty line; one without rows is left out with its heading', () => {
    const sections = [formatSection('Empty', []), ['first'], formatSection('Empty', []), ['last']];
    expect(joinSections(sections)).toEqual(['first', '', 'last']);
  });
});
