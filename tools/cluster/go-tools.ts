/**
 * Programs of Kubernetes for the tests, built from source through the Go module proxy and kept outside the work tree.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildKubernetesProgram } from './build-kubernetes.ts';

/** One program at one version. */
interface GoTool {
  /** Exact, with the `v` of Go. */
  readonly version: string;
  /** Builds the program into a folder, as a file with the tool's name. */
  readonly build: (version: string, folder: string) => Promise<void>;
}

/** A program that {@link buildGoTool} makes. */
export type GoToolName = 'helm' | 'kube-apiserver' | 'kubectl';

/** The first minor version with a MutatingAdmissionPolicy. */
const KUBERNETES = 'v1.36.3';

/** The programs by the name of their file. */
const GO_TOOLS: Readonly<Record<GoToolName, GoTool>> = {
  helm: {
    version: 'v3.22.0',
    build: (version, folder) =>
      install(`helm.sh/helm/v3/cmd/helm@${version}`, folder, helmLinkerFlags(version)),
  },
  'kube-apiserver': {
    version: KUBERNETES,
    build: (version, folder) => buildKubernetesProgram('kube-apiserver', version, folder),
  },
  kubectl: {
    version: KUBERNETES,
    build: (version, folder) => buildKubernetesProgram('kubectl', version, folder),
  },
};

/** Names of all, in the order in which they are built. */
export const GO_TOOL_NAMES = Object.keys(GO_TOOLS) as readonly GoToolName[];

/** Whether a text names one of the programs. */
export function isGoToolName(text: string): text is GoToolName {
  return Object.hasOwn(GO_TOOLS, text);
}

const run = promisify(execFile);

/** Where built programs stay: `SALLYPORT_TOOLS_CACHE`, or `sallyport-tools` in the user's cache folder. */
export function cacheFolder(): string {
  const { SALLYPORT_TOOLS_CACHE: named, XDG_CACHE_HOME: caches } = process.env;
  return named ?? join(caches ?? join(homedir(), '.cache'), 'sallyport-tools');
}

/** Path of a program that is built already; `undefined` when it is not. */
export function findBuiltGoTool(name: GoToolName): string | undefined {
  const path = join(cacheFolder(), folderName(name), name);
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}

/**
 * Gives the path of a program, and builds it when it is not there. Two builds at once both succeed; one result stays.
 *
 * @throws When Go is missing or the build fails, with the end of what Go printed.
 */
export async function buildGoTool(name: GoToolName): Promise<string> {
  const built = findBuiltGoTool(name);
  if (built !== undefined) return built;
  const cache = cacheFolder();
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, `${folderName(name)}-`));
  try {
    const { version, build } = GO_TOOLS[name];
    await build(version, draft);
    renameSync(draft, join(cache, folderName(name)));
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    const other = findBuiltGoTool(name);
    if (other !== undefined) return other;
    throw error;
  }
  return join(cache, folderName(name), name);
}

function folderName(name: GoToolName): string {
  return `${name}-${GO_TOOLS[name].version}`;
}

/** As in helm's own Makefile: without them it takes every cluster it is not connected to for Kubernetes 1.20. */
function helmLinkerFlags(version: string): readonly string[] {
  const flags = [['internal/version.version', version]];
  for (const folder of ['chartutil', 'lint/rules'])
    flags.push([`pkg/${folder}.k8sVersionMajor`, '1'], [`pkg/${folder}.k8sVersionMinor`, '36']);
  return flags.map(([name, value]) => `-X helm.sh/helm/v3/${name}=${value}`);
}

async function install(
  module: string,
  folder: string,
  linkerFlags: readonly string[],
): Promise<void> {
  const environment = { ...process.env, GOBIN: folder, CGO_ENABLED: '0', GOWORK: 'off' };
  try {
    const flags = ['-s', '-w', ...linkerFlags].join(' ');
    await run('go', ['install', '-trimpath', '-ldflags', flags, module], { env: environment });
  } catch (error) {
    throw new Error(`go install ${module} failed: ${String(error).slice(-2_000)}`, {
      cause: error,
    });
  }
}
