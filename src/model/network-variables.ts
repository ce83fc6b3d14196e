/** Each names a file or a folder with certificates that a program trusts besides. */
export const CERTIFICATE_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'] as const;

/**
 * By these a program reaches its model through a proxy or a company's network. Every runtime gets them. The address of a proxy may hold a
 * password, which `secretValues` finds by its form.
 */
export const NETWORK_VARIABLES: readonly string[] = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...CERTIFICATE_VARIABLES,
];

/** Whether a variable says where a vendor's model is. */
export function isEndpoint(name: string): boolean {
  return ENDPOINT.test(name);
}

const ENDPOINT = /_(?:BASE_URL|BASE_URI|API_BASE|API_URL|API_HOST|ENDPOINT|CA_CERTIFICATE)$/;
const KEY = /_(?:API_KEY|KEY|AUTH_TOKEN|OAUTH_TOKEN|GITHUB_TOKEN|TOKEN)$/;

/**
 * The variables of this environment that say where a vendor's model is, and that a program of this vendor does not get. `vendors`: how the
 * names of its variables begin. `passed`: what it gets; a key among these names a vendor, too.
 */
export function unpassedEndpoints(
  environment: Readonly<Record<string, string | undefined>>,
  vendors: readonly string[],
  passed: readonly string[],
): string[] {
  const keys = passed.filter((name) => KEY.test(name) && environment[name]);
  const words = new Set([
    ...vendors.map((name) => name.replace(/_$/, '')),
    ...keys.map((name) => name.replace(KEY, '')),
  ]);
  return Object.keys(environment)
    .filter((name) => environment[name] && ENDPOINT.test(name) && !passed.includes(name))
    .filter((name) => [...words].some((word) => `_${name}`.includes(`_${word}_`)))
    .toSorted();
}
