/**
 * Session environment: CI, SSH, container, display. Decides how a person can sign in.
 *
 * @module
 */

import { existsSync } from 'node:fs';

/** Facts that choose the way to sign in. */
export interface SessionEnvironment {
  /** Whether this is a job of a build server, without a person. */
  readonly isCi: boolean;
  /** Whether a person can be asked. */
  readonly isInteractive: boolean;
  /** Whether the person sits at another machine: SSH, container, cloud shell. Empty when not, else the reason. */
  readonly remoteBecause: string;
  /** Whether a browser can show a window here. */
  readonly hasDisplay: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that are set only in a remote session, and their meaning. */
const REMOTE_VARIABLES = [
  ['SSH_CONNECTION', 'this is an SSH session'],
  ['SSH_CLIENT', 'this is an SSH session'],
  ['SSH_TTY', 'this is an SSH session'],
  ['KUBERNETES_SERVICE_HOST', 'this is a pod'],
  ['CODESPACES', 'this is a codespace'],
  ['CLOUD_SHELL', 'this is a cloud shell'],
  ['DEVSHELL_PROJECT_ID', 'this is a cloud shell'],
  ['AZUREPS_HOST_ENVIRONMENT', 'this is a cloud shell'],
] as const;
/**
 * Left by Docker. Podman's is not looked for: desktops' own containers have it, with a display and the
 * host's network, and the others have no display.
 */
const CONTAINER_FILE = '/.dockerenv';

/**
 * Reads the session environment. `CI` counts unless it is empty, `0` or `false`.
 *
 * @param fileExists - Looks for the file a container engine leaves.
 */
export function readSessionEnvironment(
  environment: Environment,
  isInteractive: boolean,
  platform: NodeJS.Platform = process.platform,
  fileExists: (path: string) => boolean = existsSync,
): SessionEnvironment {
  const isSet = (name: string): boolean => (environment[name] ?? '') !== '';
  const remote = REMOTE_VARIABLES.find(([name]) => isSet(name))?.[1];
  const isContainer = platform === 'linux' && fileExists(CONTAINER_FILE);
  return {
    isCi: isSet('CI') && !/^(?:0|false)$/i.test(environment['CI'] ?? ''),
    isInteractive,
    remoteBecause: remote ?? (isContainer ? 'this is a container' : ''),
    hasDisplay:
      platform !== 'linux' ||
      isSet('DISPLAY') ||
      isSet('WAYLAND_DISPLAY') ||
      // Windows' subsystem for Linux opens the browser of Windows.
      isSet('WSL_DISTRO_NAME'),
  };
}
