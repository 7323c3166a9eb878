/**
 * From a request path to its route group.
 *
 * @module
 */
/** Segments of unreserved characters that end in something other than a dot (RFC 3986 section 2.3). */
const CANONICAL_PATH = /^\/(?:[\w.~-]*[\w~-](?:\/[\w.~-]*[\w~-])*\/?)?$/;
const HTTP_MATCH = /^\/(?:[^/]+(?:\/[^/]+)*)?$/;
const RPC_MATCH = /^([\w.]+)(?:\/(?:(\w+)|(\w*)\*))?$/;
const RPC_PATH = /^\/([\w.]+)\/(\w+)$/;
/** Where what no group names goes: behind the verdict, and for gRPC to no backend at all. */
const UNMATCHED = {
  http: unmatched('http', 'console'),
  grpc: unmatched('grpc', 'unmatched'),
};
/**
 * Creates the matcher of a table. The longest match wins, at segment boundaries, case-sensitive.
 *
 * An unprotected group is chosen only for a path that no backend could read as another one: plain
 * segments of letters, digits and `-._~`. A path with an escape, a dot segment, `//`, `\`, `;`, a
 * control or non-ASCII character is matched among the protected groups alone, and so is one whose
 * lower-case form a protected group claims more closely (CVE-2026-33494, CVE-2026-40575,
 * CVE-2026-48794). The query never takes part (CVE-2025-54576). A gRPC service is also reachable
 * through HTTP, because Connect and gRPC-Web calls are plain POST requests to its path.
 *
 * @throws {TypeError} When a match is malformed, given twice, or opens every path: a programmer error.
 */
export function createRouteMatcher(routes) {
  const everything = new RouteIndex(routes, false);
  const guarded = routes.filter((group) => group.protected);
  const protectedOnly = new RouteIndex(guarded, false);
  const protectedInAnyCase = new RouteIndex(guarded, true);
  return function matchRoute(path, transport) {
    const match = everything.find(path, transport);
    if (match !== undefined && (match.group.protected || isOpen(path, transport, match.length)))
      return match.group;
    return protectedOnly.find(path, transport)?.group ?? UNMATCHED[transport];
  };
  function isOpen(path, transport, length) {
    if (!CANONICAL_PATH.test(path)) return false;
    const closed = protectedInAnyCase.find(path.toLowerCase(), transport);
    return closed === undefined || closed.length < length;
  }
}
/** Answers in a time that depends on the table and not on the length of the path. */
class RouteIndex {
  #groupByPath = new Map();
  #groupByRpc = new Map();
  #prefixesByService = new Map();
  #segmentsMax = 0;
  constructor(routes, isLowerCase) {
    for (const group of routes) {
      for (const match of group.matches) {
        const spelt = isLowerCase ? match.toLowerCase() : match;
        if (group.transport === 'http') this.#addPath(spelt, group);
        else this.#addRpc(spelt, group);
      }
    }
  }
  find(path, transport) {
    const rpc = this.#findRpc(path);
    if (transport === 'grpc') return rpc;
    const http = this.#findPath(path);
    return rpc !== undefined && rpc.length > (http?.length ?? 0) ? rpc : http;
  }
  #addPath(match, group) {
    if (!HTTP_MATCH.test(match)) throw new TypeError(`route ${group.name}: ${match} is no path`);
    if (match === '/' && !group.protected)
      throw new TypeError(`route ${group.name}: opens every path`);
    const key = match === '/' ? '' : match;
    addOnce(this.#groupByPath, key, group);
    this.#segmentsMax = Math.max(this.#segmentsMax, key.split('/').length - 1);
  }
  #addRpc(match, group) {
    const [, service, method, prefix] = RPC_MATCH.exec(match) ?? [];
    if (service === undefined) throw new TypeError(`route ${group.name}: ${match} is no service`);
    if (prefix === undefined)
      addOnce(this.#groupByRpc, method === undefined ? service : `${service}/${method}`, group);
    else
      this.#prefixesByService.set(service, [
        ...(this.#prefixesByService.get(service) ?? []),
        { prefix, group },
      ]);
  }
  #findPath(path) {
    let end = 0;
    for (let segments = 0; segments < this.#segmentsMax && end < path.length; segments += 1) {
      const next = path.indexOf('/', end + 1);
      end = next === -1 ? path.length : next;
    }
    for (; end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
      const group = this.#groupByPath.get(path.slice(0, end));
      if (group !== undefined) return { group, length: Math.max(end, 1) };
    }
    return undefined;
  }
  #findRpc(path) {
    const [, service = '', method = ''] = RPC_PATH.exec(path) ?? [];
    if (service === '') return undefined;
    const exact = this.#groupByRpc.get(`${service}/${method}`);
    if (exact !== undefined) return { group: exact, length: path.length };
    let best;
    for (const { prefix, group } of this.#prefixesByService.get(service) ?? []) {
      const length = service.length + 2 + prefix.length;
      if (method.startsWith(prefix) && length > (best?.length ?? 0)) best = { group, length };
    }
    if (best !== undefined) return best;
    const whole = this.#groupByRpc.get(service);
    return whole === undefined ? undefined : { group: whole, length: service.length + 1 };
  }
}
function addOnce(groups, key, group) {
  const other = groups.get(key);
  if (other !== undefined)
    throw new TypeError(`routes ${other.name} and ${group.name} both match ${key}`);
  groups.set(key, group);
}
function unmatched(transport, backend) {
  return {
    name: `unmatched-${transport}`,
    transport,
    protected: true,
    backend,
    matches: [],
    forwardCredential: 'none',
    streaming: false,
  };
}
//# sourceMappingURL=match-route.js.map
