/**
 * The queries of the dashboard and of the alerts, and what they name.
 *
 * @module
 */

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** One query. */
export interface Query {
  /** Panel or alert. */
  readonly title: string;
  readonly expression: string;
  /** Labels that the legend or the texts of an alert show. */
  readonly shown: readonly string[];
}

/** A metric as a query names it. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly {
    readonly label: string;
    readonly operator: '=' | '!=' | '=~' | '!~';
    readonly value: string;
  }[];
}

/** What is deployed. */
export const DASHBOARD_FILE: string = new URL(
  '../../deploy/monitoring/dashboard.json',
  import.meta.url,
).pathname;
/** As {@link DASHBOARD_FILE}. */
export const ALERTS_FILE: string = new URL('../../deploy/monitoring/alerts.yaml', import.meta.url)
  .pathname;

const VARIABLES: Readonly<Record<string, string>> = {
  $__rate_interval: '1m',
  $instance: '.*',
  $job: 'sallyport',
};
const SELECTOR = /\b((?:sallyport|process|nodejs)_\w+|up\b)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** Queries of every panel, with values for the dashboard's variables. */
export function dashboardQueries(): readonly Query[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as {
    readonly panels: readonly Panel[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      title: `${title}: ${legendFormat}`,
      expression: Object.entries(VARIABLES).reduce(
        (text, [name, value]) => text.replaceAll(name, value),
        expr,
      ),
      shown: [...legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label),
    })),
  );
}

/** Names and expressions of every alert. */
export function alertQueries(): readonly Query[] {
  const { groups } = parse(readFileSync(ALERTS_FILE, 'utf8')) as {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly alert: string;
        readonly expr: string;
        readonly annotations: Readonly<Record<string, string>>;
      }[];
    }[];
  };
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, annotations }) => ({
      title: alert,
      expression: expr,
      shown: [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ].map(([, label = '']) => label),
    })),
  );
}

/** Every metric a query names, with its matchers. */
export function selectorsOf({ expression }: Query): readonly Selector[] {
  return [...expression.matchAll(SELECTOR)].map(([, metric = '', matchers = '']) => ({
    metric,
    matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
      label,
      operator: operator as '=',
      value,
    })),
  }));
}

/** Labels that a query groups by. */
export function groupsOf({ expression }: Query): readonly string[] {
  return [...expression.matchAll(/\b(?:by|ignoring|on|without)\s*\(([^)]*)\)/g)].flatMap(
    ([, labels = '']) => labels.split(',').map((label) => label.trim()),
  );
}
