/**
 * The client IDs of the three applications: each has its own.
 *
 * @module
 */

/** The applications of the requirement's table "IdP applications". */
const APPLICATIONS = ['web', 'native', 'service'] as const;

/** One of them. */
export type Application = (typeof APPLICATIONS)[number];

/**
 * Lists the applications that share a client ID, in pairs. They differ in what they may do and how they prove
 * themselves, so an identity provider cannot hold two of them as one. An empty ID is not compared.
 */
export function listSharedClientIds(
  ids: Readonly<Record<Application, string>>,
): readonly (readonly [one: Application, other: Application])[] {
  return APPLICATIONS.flatMap((one, at) =>
    APPLICATIONS.slice(at + 1)
      .filter((other) => ids[one] !== '' && ids[one] === ids[other])
      .map((other): readonly [Application, Application] => [one, other]),
  );
}
