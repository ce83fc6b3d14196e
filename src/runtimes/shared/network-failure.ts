/** A program's network settings, for the message that its model cannot be reached. */
export interface NetworkSettings {
  /** The variables that say where its model is and how it gets there, as it got them. */
  readonly given: Readonly<Record<string, string>>;
  /** Variables of the person that would say so, and that the program does not get. */
  readonly unpassed: readonly string[];
  /** `runtimes.<name>.env`, where a person names variables. */
  readonly setting: string;
}

type Trouble = 'name' | 'refused' | 'silent' | 'cut' | 'certificate' | 'proxy' | 'unknown';

/** The first match counts. Programs of Node.js name the system's code, those of Rust and Go use words. */
const TROUBLES: readonly (readonly [RegExp, Trouble])[] = [
  [
    /proxy authentication|\b407\b|tunnel(?:l?ing)? (?:socket|connection)|proxy (?:connect|tunnel|refused|error)/i,
    'proxy',
  ],
  [/certificate|CERT_|ERR_TLS|\bTLS\b|\bSSL\b|UnknownIssuer|SELF_SIGNED/i, 'certificate'],
  [/ENOTFOUND|EAI_AGAIN|no such host|(?:resolve|lookup|dns) /i, 'name'],
  [/ECONNREFUSED|connection refused/i, 'refused'],
  [/ETIMEDOUT|TIMEOUT|timed? ?out|EHOSTUNREACH|ENETUNREACH|unreachable/i, 'silent'],
  [/ECONNRESET|socket hang up|EPIPE|disconnected|terminated|closed/i, 'cut'],
];

const SAID: Readonly<Record<Trouble, string>> = {
  name: 'its name cannot be resolved',
  refused: 'nothing answers there',
  silent: 'no answer came in time',
  cut: 'the connection was cut',
  certificate: 'its certificate is not trusted',
  proxy: 'the proxy refuses the connection',
  unknown: 'the connection failed',
};

/** How programs name a host that they cannot reach. Each takes linear time. */
const HOSTS: readonly RegExp[] = [
  /(?:ENOTFOUND|EAI_AGAIN|lookup|Host:) ([\w.-]{1,253}\.[\w-]{1,63})\b/,
  /(?:ECONNREFUSED|ETIMEDOUT|ECONNRESET|EHOSTUNREACH|ENETUNREACH) (\[?[\w.:-]{1,253}\]?:\d{1,5})\b/,
  /https?:\/\/(?:[^\s/@"'<>]{0,200}@)?([\w.-]{1,253}(?::\d{1,5})?)/,
];

const MOST_SEARCHED = 16 * 1024;
const MOST_QUOTED = 400;

/**
 * Why a model was not reached, for the person who can correct it: the host as far as known, what is wrong there, the program's own words, and
 * the variable that is missing. `more`: where else the program may have named the host.
 */
export function explainNetwork(message: string, more: string, settings: NetworkSettings): string {
  const trouble = troubleIn(message) ?? troubleIn(more) ?? 'unknown';
  const host = hostIn(message) ?? hostIn(more);
  const where = host ?? endpointIn(settings.given);
  const quoted = message.slice(0, MOST_QUOTED);
  const reached = where === undefined ? 'its model cannot be reached' : `${where} cannot be reached`;
  return [`${reached} (${SAID[trouble]}): ${quoted}`, ...hintsOf(trouble, settings)].join('. ');
}

function troubleIn(text: string): Trouble | undefined {
  const searched = text.slice(0, MOST_SEARCHED);
  return TROUBLES.find(([pattern]) => pattern.test(searched))?.[1];
}

function hostIn(text: string): string | undefined {
  const searched = text.slice(0, MOST_SEARCHED);
  return HOSTS.map((pattern) => pattern.exec(searched)?.[1]).find((host) => host !== undefined);
}

/** Where the person's own variable sends the program. */
function endpointIn(given: NetworkSettings['given']): string | undefined {
  const [name, value] = Object.entries(given).find(([variable]) => /_(?:BASE_URL|ENDPOINT)$/.test(variable)) ?? [];
  return value !== undefined && URL.canParse(value) ? `${new URL(value).host} (${name})` : undefined;
}

function hintsOf(trouble: Trouble, { given, unpassed, setting }: NetworkSettings): string[] {
  const isSet = (name: RegExp): string[] => Object.keys(given).filter((variable) => name.test(variable));
  const proxies = isSet(/^(?:HTTPS?|ALL)_PROXY$/i);
  const certificates = isSet(/CERT/);
  const left =
    unpassed.length === 0
      ? []
      : [
          `You have set ${unpassed.join(', ')}, which the agent does not get: name it in ${setting} if the agent needs it`,
        ];
  if (trouble === 'certificate' && certificates.length === 0) {
    return [...left, 'If a company’s certificate is needed here, set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE'];
  }
  if (trouble === 'certificate') return [...left, `Look at ${certificates.join(', ')}`];
  if (proxies.length > 0) return [...left, `The agent goes through ${proxies.join(', ')}`];
  return [...left, 'If this machine needs a proxy, set HTTPS_PROXY'];
}
