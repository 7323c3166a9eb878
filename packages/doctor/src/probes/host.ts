/**
 * From a name to TLS: the probes of one server's address.
 *
 * @module
 */

import { isLoopbackHost } from '@sallyport/protocol';
import { type Finding, fail, warn } from '../finding/finding.ts';
import { broken, found, type Outcome, type Probe } from '../graph/probe.ts';
import { codeOf, type Network, type ShownCertificate } from '../network/network.ts';
import { type Place, portOf } from './address.ts';

/** The probes of one server; `ready` has a value once HTTP can be spoken there. */
export interface HostProbes {
  readonly all: readonly Probe[];
  readonly ready: Probe<URL>;
}

/** Less than this before its end a certificate should have been renewed. */
export const EXPIRES_SOON_MS: number = 14 * 86_400_000;
const DAY_MS = 86_400_000;

/**
 * Makes the probes `ID.dns`, `ID.tcp` and `ID.tls`.
 *
 * Behind a proxy only the proxy looks names up and connects, so all three answer at once. Of several addresses one
 * that answers is enough.
 *
 * @param known - Probes of another server; where both have one origin, that one's answer counts for this.
 */
export function createHostProbes(
  place: Place,
  network: Network,
  now: () => number,
  known?: HostProbes,
): HostProbes {
  const after = known === undefined ? [] : [known.ready];

  const dns: Probe<readonly string[]> = {
    id: `${place.id}.dns`,
    group: 'dns',
    title: `the name of ${place.name}`,
    needs: [place.address],
    after,
    async run(answers) {
      const url = answers.get(place.address);
      if (known !== undefined && answers.find(known.ready)?.origin === url.origin) return found([]);
      if (network.findProxy(url) !== undefined) return found([]);
      try {
        return found(await network.lookup(url.hostname));
      } catch (error) {
        return broken(toNameFinding(url, place, codeOf(error)));
      }
    },
  };

  const tcp: Probe<string> = {
    id: `${place.id}.tcp`,
    group: 'tcp',
    title: `a connection to ${place.name}`,
    needs: [place.address, dns],
    async run(answers, signal) {
      const url = answers.get(place.address);
      const addresses = answers.get(dns);
      if (addresses.length === 0) return found('');
      return connectToOne(url, addresses, place, network, signal);
    },
  };

  const tls: Probe<URL> = {
    id: `${place.id}.tls`,
    group: 'tls',
    title: `the certificate of ${place.name}`,
    needs: [place.address, tcp],
    async run(answers, signal) {
      const url = answers.get(place.address);
      const address = answers.get(tcp);
      if (url.protocol !== 'https:' || address === '') return found(url);
      try {
        const shown = await network.showCertificate(address, portOf(url), url.hostname, signal);
        const finding = judgeCertificate(url, place, shown, now());
        if (finding === undefined) return found(url);
        return finding.severity === 'fail' ? broken(finding) : found(url, [finding]);
      } catch (error) {
        return broken(toTlsFinding(url, place, codeOf(error)));
      }
    },
  };
  return { all: [dns, tcp, tls], ready: tls };
}

async function connectToOne(
  url: URL,
  addresses: readonly string[],
  place: Place,
  network: Network,
  signal: AbortSignal,
): Promise<Outcome<string>> {
  const port = portOf(url);
  const evidence: string[] = [];
  let last = '';
  for (const address of addresses.slice(0, 8)) {
    try {
      await network.connect(address, port, AbortSignal.any([signal, AbortSignal.timeout(4_000)]));
      return found(address);
    } catch (error) {
      last = codeOf(error) || 'ETIMEDOUT';
      evidence.push(`${address} port ${port}: ${last}`);
    }
  }
  const isRefused = last === 'ECONNREFUSED';
  return broken(
    fail(
      isRefused ? 'connection_refused' : 'no_route',
      isRefused
        ? `${place.name} ${url.origin} cannot be reached: nothing listens on port ${port}`
        : `${place.name} ${url.origin} cannot be reached: no connection to port ${port}`,
      isRefused
        ? `Start it, or correct ${place.setting}.`
        : `Look at firewall, VPN and network policy between here and there, or correct ${place.setting}.`,
      evidence,
    ),
  );
}

function toNameFinding(url: URL, { name, setting }: Place, code: string): Finding {
  const isTemporary = code === 'EAI_AGAIN';
  return fail(
    'name_unknown',
    isTemporary
      ? `${name} ${url.origin} cannot be reached: its name ${url.hostname} cannot be looked up now`
      : `${name} ${url.origin} cannot be reached: there is no name ${url.hostname}`,
    isTemporary
      ? 'Look at the resolver of this machine or pod (/etc/resolv.conf).'
      : `Correct ${setting}, or add the name to the DNS that is asked from here.`,
    [`lookup of ${url.hostname}: ${code}`],
  );
}

const PROBLEMS: ReadonlyMap<string, 'certificate_expired' | 'certificate_other_name'> = new Map([
  ['CERT_HAS_EXPIRED', 'certificate_expired'],
  ['CERT_NOT_YET_VALID', 'certificate_expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate_other_name'],
]);

function judgeCertificate(
  url: URL,
  { name }: Place,
  { problem, subject, issuer, names, validTo }: ShownCertificate,
  now: number,
): Finding | undefined {
  const evidence = [
    `subject ${subject}; issuer ${issuer}`,
    ...(names === '' ? [] : [`names ${names}`]),
    ...(Number.isNaN(validTo) ? [] : [`valid until ${new Date(validTo).toISOString()}`]),
    ...(problem === '' ? [] : [`TLS says ${problem}`]),
  ];
  const code = PROBLEMS.get(problem);
  if (code === 'certificate_expired')
    return fail(
      code,
      `the certificate of ${name} ${url.origin} is not valid at this time`,
      'Renew it. If its dates are right, compare the clock of this machine.',
      evidence,
    );
  if (code === 'certificate_other_name')
    return fail(
      code,
      `the certificate of ${name} ${url.origin} is for another name than ${url.hostname}`,
      `Have it issued for ${url.hostname}, or use the name that it is for.`,
      evidence,
    );
  if (problem !== '')
    return fail(
      'certificate_untrusted',
      `the certificate of ${name} ${url.origin} is of an authority that is not trusted here`,
      isLoopbackHost(url.hostname)
        ? 'Give the certificate of its authority: --ca-file FILE here (of sallyport up: --ca-file .sallyport/tls/ca.pem), NODE_EXTRA_CA_CERTS=FILE for the service.'
        : 'Name the authority with NODE_EXTRA_CA_CERTS=FILE for the service and --ca-file FILE here; a server has to send its intermediate certificates along.',
      evidence,
    );
  const days = Math.floor((validTo - now) / DAY_MS);
  return validTo - now < EXPIRES_SOON_MS
    ? warn(
        'certificate_expires_soon',
        `the certificate of ${name} ${url.origin} ends in ${days} ${days === 1 ? 'day' : 'days'}`,
        'Renew it, and look at why it was not renewed by itself.',
        evidence,
      )
    : undefined;
}

function toTlsFinding(url: URL, { name, setting }: Place, code: string): Finding {
  return fail(
    'not_tls',
    `${name} ${url.origin} does not speak TLS on port ${portOf(url)}`,
    `Correct scheme and port in ${setting}, or put the certificate on that port.`,
    [`TLS ended with ${code === '' ? 'no code' : code}`],
  );
}
