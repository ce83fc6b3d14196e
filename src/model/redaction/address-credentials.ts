/** Of a login without a password: a shorter one is the name of a person, which any text may have. */
const LEAST_TOKEN = 16;
const LOGIN = /^[a-z][a-z\d+.-]{0,20}:\/\/([^\s/?#]{1,2000})@/i;

/** What an address has before its host to log in with: the password, or a token alone, and both parts together. Also as it is without `%`. */
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
