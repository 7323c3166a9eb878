/**
 * Label selectors of Kubernetes.
 *
 * @module
 */

import { type Labels, labelsAt, listAt, textAt } from '../cluster.ts';

/**
 * Whether labels are selected. An empty or absent selector selects all; an operator that is not known selects none.
 *
 * @param selector - Of the API, with `matchLabels` and `matchExpressions`. Untrusted.
 */
export function isSelected(labels: Labels, selector: unknown): boolean {
  return (
    hasLabels(labels, labelsAt(selector, 'matchLabels')) &&
    listAt(selector, 'matchExpressions').every((expression) => {
      const value = labels[textAt(expression, 'key')];
      const isAmong = value !== undefined && listAt(expression, 'values').includes(value);
      switch (textAt(expression, 'operator')) {
        case 'In':
          return isAmong;
        case 'NotIn':
          return !isAmong;
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
        default:
          return false;
      }
    })
  );
}

/** Whether each of the labels is there with its value. */
function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
