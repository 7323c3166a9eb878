/**
 * Writes docs/doctor.md from the causes that the doctor names and from the faults that tests make:
 * `node --conditions=source tools/generate-doctor-docs.ts`.
 *
 * @module
 */

import { writeFileSync } from 'node:fs';
import { CAUSES, type CauseCode, PROBE_GROUPS, type ProbeGroup } from '@sallyport/doctor';
import { FAULTS } from '../interop/doctor/faults.ts';

/** Where the page lies. */
export const DOCTOR_DOCS: URL = new URL('../docs/doctor.md', import.meta.url);

const INTRODUCTION = `<!-- Made by tools/generate-doctor-docs.ts from the causes of packages/doctor. Do not edit. -->

# Doctor

Find out why a sign-in does not work, and what to do about it. \`sallyport doctor\` looks at a platform as its clients do, and names the
cause in one sentence, with what was seen and the fix. It repairs nothing and changes nothing.

\`\`\`
sallyport doctor https://platform.example.com
sallyport doctor --config /etc/sallyport/sallyport.yaml
\`\`\`

The first asks from a laptop what any client may ask. The second compares what it is answered with the configuration of the admin
service as well.

| Option | Meaning |
|---|---|
| \`--config FILE\` | the admin service's YAML file; environment variables win over it, as for \`serve\` |
| \`--client-config FILE\` | YAML file of a client or an internal service; may be given several times, one for each side |
| \`--cluster\`, \`--context NAME\` | look at a cluster as well, through \`kubectl\`: Secrets, ExternalSecrets, Ingress objects, what injects API keys into task pods, and versions |
| \`--manifests FILE\` | the same objects from a file, such as \`kubectl get secrets,ingress,externalsecret,service,endpointslice,deployment,pods,namespaces,mutatingwebhookconfiguration,ingressclass -A -o yaml\` writes |
| \`--nginx FILE\` | look at the nginx in front of the platform as well: a file with those it includes, or what \`nginx -T\` writes |
| \`--control-plane-namespace NAME\`, \`--data-plane-namespace NAME\` | \`cloud-cp\` and \`cloud\` |
| \`--only GROUPS\`, \`--skip GROUPS\` | report some groups alone, or leave some out, joined by commas; what a group needs runs all the same |
| \`--timeout DURATION\` | end after this time, 60s |
| \`--ca-file FILE\` | certificates (PEM) to trust beside those of the system |
| \`--offline\` | look at files alone; no request is sent |
| \`--strict\` | a warning is a fault, too |
| \`--json\` | one JSON object of the form in [doctor.schema.json](doctor.schema.json) |

Exit code 0: no fault was found. 1: something is, or with \`--strict\` there is a warning. 2: wrong usage. 130: interrupted.

## How it looks

Its probes are a graph: name, connection, TLS, HTTP, then what is said over it. A probe whose ground is missing says \`needs ID\` and
nothing more, so that the first finding is the cause and not one of its effects. Probes that do not depend on each other run at the
same time, each for at most 20 s.

With \`--config\` or \`--client-config\` it does what the applications do: each proves itself at the token endpoint, and a service obtains a
token, shows it to \`/me\` and to one protected path, and forgets it. Where one is refused, further requests with made-up secrets and clients show why; the identity
provider logs them. A code that is made up is shown for the web app with its secret and with a made-up one: where both are answered the same,
its secret counts as untried. One device code is asked for and never used. Two sign-ins are started and not finished, the second with a long deep
link: its answer has more headers than a proxy with small buffers takes.

Secrets go to the configured token endpoint, or the one that the configured issuer names, and nowhere else; no redirect is followed with
one. A client's file without \`tokenUrl\` names no issuer: where the platform that is asked is the one in that file, over https or on this
machine, its secret goes where the client itself sends it, to the token endpoint that the platform and its issuer both name. A secret
that was sent nowhere is said to be untried. Two secrets are compared by an HMAC under a key of that run. Nothing of a secret is shown: no part, no length, no digest.

With \`--cluster\` it lists objects, and says which it may not list. Where a webhook or a policy injects API keys, the API server is asked in
a dry run what would come of a task pod; none is made.

Answers of servers are untrusted: they are read to a limit, no redirect is followed, and nothing of them reaches the terminal that
would move the cursor or hide text.
`;

const MATRIX_INTRODUCTION = `## Faults that were made

Each of these faults is put into a running plane by a test (\`interop/doctor/fault-matrix.test.ts\`), one at a time, and the first finding
is the cause beside it. \`running plane\` is the embedded identity provider, \`sallyport serve\` and an ingress; \`fake endpoint\` the same, with
one endpoint of the identity provider that answers as another one publishes, which is no proof for that provider; \`files\` what the
doctor reads; \`manifests\` objects of Kubernetes in a file, as \`kubectl\` gives them from a cluster. At a real API server
(\`interop/cluster/doctor-injection.test.ts\`) the doctor finds nothing wrong with the webhook and the policy of the chart, and names a
webhook that cannot be asked, one behind \`failurePolicy: Ignore\`, a certificate of another authority, pods without the key and a policy
without its binding. At a real nginx (\`interop/nginx/doctor.test.ts\`) it finds nothing wrong with the recipe, and names small buffers and
verdicts that are kept by a key without the bearer header or the cookie.

At a real Keycloak (\`interop/keycloak/doctor.test.ts\`) the doctor finds nothing wrong with what \`sallyport idp apply\` has set up, and names a
wrong secret, quotes around one, an unknown client, a grant that is off, an unknown scope and a final slash of the issuer. Okta, Entra and
Auth0 were never asked: what is said of them is by their published API.

| Fault | First finding | Put into |
|---|---|---|
`;

/** Renders the page. */
export function renderDoctorDocs(): string {
  const codes = Object.keys(CAUSES) as CauseCode[];
  return [
    INTRODUCTION,
    ...PROBE_GROUPS.flatMap((group) => renderGroup(group, codes)),
    `${MATRIX_INTRODUCTION}${FAULTS.map(renderFault).join('')}`,
  ].join('\n');
}

function renderGroup(group: ProbeGroup, codes: readonly CauseCode[]): readonly string[] {
  const own = codes.filter((code) => CAUSES[code].group === group);
  if (own.length === 0) return [];
  return [`## Causes: ${group}\n`, ...own.map(renderCause)];
}

function renderCause(code: CauseCode): string {
  const { seen, found, cure } = CAUSES[code];
  return `### \`${code}\`\n\n**What one sees.** ${seen}\n**How it is found.** ${found}\n**The cure.** ${cure}\n`;
}

function renderFault({ fault, cause, ground }: (typeof FAULTS)[number]): string {
  return `| ${fault} | [\`${cause}\`](#${cause}) | ${ground} |\n`;
}

if (import.meta.main) writeFileSync(DOCTOR_DOCS, renderDoctorDocs());
