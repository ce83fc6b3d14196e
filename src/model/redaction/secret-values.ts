import { credentialsIn } from './address-credentials.ts';

/** Shorter values occur in any text. */
const LEAST_SECRET = 8;
/** For a line of a longer secret, such as a key in PEM. */
const LEAST_LINE = 16;

/** A variable with such a name holds a secret. */
const SECRET_NAME =
  /(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|PASS|CREDENTIAL|CREDENTIALS|PAT|COOKIE|DSN|WEBHOOK|AUTH)(?:$|_)/i;
/** Usual values where there is no secret yet. Removing them from every text would spoil plans and paths. */
const NO_SECRET: ReadonlySet<string> = new Set(
  (
    'anonymous changeme database default development disabled enabled localhost password postgres production required ' +
    'username'
  ).split(' '),
);
/** A variable with such a name holds none, even if it is let through to an agent. */
const PLAIN_NAME =
  /(?:^|_)(?:URL|URI|HOST|HOSTNAME|PORT|REGION|ENV|ENVIRONMENT|MODE|LEVEL|PATH|FILE|DIR|DIRECTORY|HOME|NAME|VERSION|MODEL|LOCALE|PROFILE|PROJECT|USER|EDITOR|SHELL|SOCK)$/i;

/**
 * The values of the environment that squad must not store: those with a secret's name, those that are let through, and what logs in at an
 * address, such as that of a proxy.
 */
export function secretValues(
  environment: Readonly<Record<string, string | undefined>>,
  letThrough: readonly string[],
): readonly string[] {
  const named = new Set(letThrough);
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const secret = (SECRET_NAME.test(name) || named.has(name)) && !PLAIN_NAME.test(name);
    const text = value.trim();
    const inAddress = credentialsIn(text);
    // The value of a header: an error may quote the secret without its scheme.
    const alone = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(text)?.[1];
    const values = alone === undefined ? [text] : [text, alone];
    return [...(secret ? values : []), ...inAddress].filter(
      (one) => one.length >= LEAST_SECRET && !NO_SECRET.has(one.toLowerCase()),
    );
  });
}

/** The forms of a secret in a text: plain, in JSON, in an address, in hexadecimal, and anywhere within base64. */
export function formsOf(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= LEAST_LINE);
  const plain = [secret, ...lines];
  const inJson = JSON.stringify(secret).slice(1, -1);
  // Half of a surrogate pair cannot be encoded.
  const address = encodeURIComponent(secret.toWellFormed());
  const hex = Buffer.from(secret).toString('hex');
  const forms = [
    ...plain,
    inJson,
    inJson.replaceAll('/', String.raw`\/`),
    // JSON within JSON.
    JSON.stringify(inJson).slice(1, -1),
    address,
    address.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    address.replaceAll('%20', '+'),
    hex,
    hex.toUpperCase(),
    ...base64Forms(secret),
  ];
  return [...new Set(forms)].filter((form) => form.length >= LEAST_SECRET);
}

/** The parts of a secret's base64 that do not depend on the text around it. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
  });
}
