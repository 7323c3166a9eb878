/**
 * Builds programs of Kubernetes from source, through the Go module proxy.
 *
 * @module
 */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Programs that one module holds. */
export type KubernetesProgram = 'kube-apiserver' | 'kubectl';

const MODULE = 'k8s.io/kubernetes';
/** Go says little, but a failed build names every file. */
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;

const run = promisify(execFile);

/**
 * Builds one program into a folder, as a file with its name.
 *
 * The module replaces those it is developed with by folders of its own repository, which `go install` refuses. This
 * makes a module that requires it and replaces the same names by their published versions: v0.36.3 belongs to v1.36.3.
 *
 * @param version - Such as `v1.36.3`.
 * @throws When Go is missing or the build fails, with the end of what Go printed.
 */
export async function buildKubernetesProgram(
  program: KubernetesProgram,
  version: string,
  folder: string,
): Promise<void> {
  const workshop = mkdtempSync(join(tmpdir(), 'sallyport-kubernetes-'));
  try {
    const { GoMod } = JSON.parse(
      await go(['mod', 'download', '-json', `${MODULE}@${version}`], workshop),
    ) as { readonly GoMod: string };
    writeFileSync(join(workshop, 'go.mod'), formatModule(readFileSync(GoMod, 'utf8'), version));
    const flags = [
      '-mod=mod',
      '-buildvcs=false',
      '-trimpath',
      // Without debugging data they build faster and are smaller.
      '-gcflags=all=-dwarf=false',
      `-ldflags=${formatLinkerFlags(version)}`,
    ];
    const output = join(folder, program);
    await go(['build', ...flags, '-o', output, `${MODULE}/cmd/${program}`], workshop);
  } catch (error) {
    throw new Error(`building ${program} ${version} failed: ${String(error).slice(-2_000)}`, {
      cause: error,
    });
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

/** The module that builds; its Go version and the replaced names are read from the module of Kubernetes. */
function formatModule(upstream: string, version: string): string {
  const [, goVersion] = /^go (\S+)$/m.exec(upstream) ?? [];
  const replaced = [...upstream.matchAll(/^\s*(?:replace )?(k8s\.io\/\S+) => \.\/staging\//gm)];
  if (goVersion === undefined || replaced.length === 0)
    throw new Error(`the module file of ${MODULE} ${version} does not look like one`);
  const published = version.replace(/^v1\./, 'v0.');
  return [
    'module sallyport.test/kubernetes',
    `go ${goVersion}`,
    `require ${MODULE} ${version}`,
    ...replaced.map(([, name]) => `replace ${name} => ${name} ${published}`),
    '',
  ].join('\n');
}

/** Without these the API server says that it is v0.0.0, and policies that ask for its version see that. */
function formatLinkerFlags(version: string): string {
  const [major, minor] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const set = Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-s', '-w', ...set].join(' ');
}

async function go(args: readonly string[], folder: string): Promise<string> {
  const environment = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const { stdout } = await run('go', args, {
    cwd: folder,
    env: environment,
    maxBuffer: OUTPUT_MAX_BYTES,
  });
  return stdout;
}
