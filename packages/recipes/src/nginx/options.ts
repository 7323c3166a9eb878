/**
 * The recipe of nginx as the command line offers it.
 *
 * @module
 */

import { isAbsolute } from 'node:path';
import { accept, type Result, refuse } from '@sallyport/protocol';
import type { Recipe, RecipeOption, RecipeValues, RenderedRecipe } from '../recipe.ts';
import { claimHeader } from './claim-header.ts';
import { DEFAULT_CLAIMS } from './default-claims.ts';
import { harmless } from './harmless.ts';
import { VERDICT_FOLDER } from './verdict-cache.ts';

const HEADER_SHAPE = 'the name of a header: letters, digits and -';
const CLAIM_SHAPE = 'the name of a claim, of letters, digits and . _ : / -';
const UPSTREAM_SHAPE = 'unix: and an absolute path, or host and port';
const FOLDER_SHAPE = 'an absolute path of letters, digits and . _ - /';

const OPTIONS: readonly RecipeOption[] = [
  {
    name: 'claim',
    value: 'name',
    description: `a claim of claimHeaders, once for each (default: ${DEFAULT_CLAIMS.join(' and ')}, unless one is named)`,
    isRepeatable: true,
    check: (name) => expects(CLAIM_SHAPE, () => claimHeader(name)),
  },
  {
    name: 'bearer-header',
    value: 'name',
    description:
      'auth.httpAuthorizationHeader or auth.grpcAuthorizationHeader where it is not the default, once for each',
    isRepeatable: true,
    check: (name) => expects(HEADER_SHAPE, () => harmless('header', name)),
  },
  {
    name: 'strip-header',
    value: 'name',
    description: 'a header of stripHeaders, once for each',
    isRepeatable: true,
    check: (name) => expects(HEADER_SHAPE, () => harmless('header', name)),
  },
  {
    name: 'upstream',
    value: 'address',
    description:
      'where Sallyport is: host and port, or unix: and the path of server.listen; the site then names no upstream sallyport_admin and sallyport_admin_grpc',
    check: (address) => expects(UPSTREAM_SHAPE, () => harmless('upstream', address)),
  },
  {
    name: 'verdict-cache',
    description: 'let nginx keep verdicts for as long as doors.me.verdictCache says',
  },
  {
    name: 'verdict-folder',
    value: 'folder',
    description: `where it keeps them: in memory, writable for nginx alone (default: ${VERDICT_FOLDER})`,
    check: (folder) =>
      isAbsolute(folder) ? expects(FOLDER_SHAPE, () => harmless('folder', folder)) : FOLDER_SHAPE,
  },
];

/** The recipe of deploy/nginx. */
export const NGINX: Recipe = {
  name: 'nginx',
  description: 'files for stock nginx: a folder to include, described in deploy/nginx/README.md',
  options: OPTIONS,
  site: {
    file: 'conf.d/sallyport.conf',
    async render(publicUrl) {
      const { renderNginxSite } = await import('./site.ts');
      try {
        return accept(renderNginxSite(publicUrl));
      } catch {
        return refuse(
          `the host of ${publicUrl} cannot be written into nginx: choose another proxy`,
        );
      }
    },
    describeNextSteps: (publicUrl, isInPlace) => [
      ...(!isInPlace ? ["copy this folder's content into that of nginx, such as /etc/nginx"] : []),
      ...(publicUrl.startsWith('https:')
        ? [
            'put the certificate into tls/platform.crt and its key into tls/platform.key of that folder',
          ]
        : []),
      'write the addresses of your backends into conf.d/sallyport.conf',
      'nginx -t, and nginx -s reload',
    ],
  },
  render: renderOptions,
};

/**
 * Looks at the verdict folder where it is there already, or at what lies above it: a folder that this machine
 * does not have, it cannot judge.
 */
async function renderOptions(values: RecipeValues): Promise<Result<RenderedRecipe, string>> {
  const keepsVerdicts = values.has('verdict-cache');
  const folder = values.get('verdict-folder')?.at(-1);
  if (folder !== undefined && !keepsVerdicts)
    return refuse(
      '--verdict-folder: expected --verdict-cache beside it, without which nothing is kept',
    );
  const verdictFolder = keepsVerdicts ? (folder ?? VERDICT_FOLDER) : undefined;
  if (verdictFolder !== undefined) {
    const { findOpenFolder } = await import('@sallyport/config/files');
    const open = findOpenFolder(verdictFolder);
    if (open !== undefined)
      return refuse(
        `--verdict-folder: found ${JSON.stringify(verdictFolder)}, expected a folder that nginx alone can put there: others may write to ${open}`,
      );
  }
  const { DEFAULT_RECIPE, OPTIONAL_FILES, UPSTREAM_FILE, VERDICT_CACHE_FILE, renderNginxRecipe } =
    await import('./render.ts');
  const files = renderNginxRecipe({
    ...DEFAULT_RECIPE,
    claims: values.get('claim') ?? DEFAULT_CLAIMS,
    bearerHeaders: values.get('bearer-header') ?? [],
    stripHeaders: values.get('strip-header') ?? [],
    upstream: values.get('upstream')?.at(-1),
    verdictFolder,
  });
  return accept({
    files,
    absent: OPTIONAL_FILES.filter((name) => !files.has(name)),
    describeNextSteps: (removed) => [
      ...(files.has(UPSTREAM_FILE)
        ? [
            'remove the blocks `upstream sallyport_admin` and `upstream sallyport_admin_grpc` from conf.d/sallyport.conf: sallyport/upstream.conf has them now',
          ]
        : []),
      ...(removed.includes(UPSTREAM_FILE)
        ? ['the site has to name the upstreams sallyport_admin and sallyport_admin_grpc again']
        : []),
      ...(keepsVerdicts
        ? ["set doors.me.verdictCache in Sallyport's configuration (2s to 5s)"]
        : []),
      ...(removed.includes(VERDICT_CACHE_FILE)
        ? ['nginx keeps no verdicts any more: set doors.me.verdictCache to 0s']
        : []),
      'nginx -t, and nginx -s reload',
    ],
  });
}

/** @returns What was expected, if the look at the value throws. */
function expects(shape: string, look: () => void): string | undefined {
  try {
    look();
    return undefined;
  } catch {
    return shape;
  }
}
