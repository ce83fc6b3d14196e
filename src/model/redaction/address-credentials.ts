/** Least length of a login without a password to count as a secret: a shorter one is a person's name, which any text may have. */
const LEAST_TOKEN = 16;
const LOGIN = /^[a-z][a-z\d+.-]{0,20}:\/\/([^\s/?#]{1,2000})@/i;

/** The password of an address, or a token alone, and both parts together: as written, and with `%` codes decoded. */
export function credentialsIn(address: string): readonly string[] {
  const login = LOGIN.exec(address)?.[1];
  if (login === undefined) return [];
  const at = login.indexOf(':');
  const password = login.slice(at + 1);
  if (at === -1 || password === '') {
    const alone = login.replace(/:$/, '');
    return alone.length < LEAST_TOKEN ? [] : withDecoded([alone]);
  }
  // `postgres:postgres` protects nothing, and many commands contain it.
  return login.slice(0, at) === password ? [] : withDecoded([password, login]);
}

function withDecoded(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => [text, decoded(text)]))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A `%` that is one.
    return text;
  }
}
