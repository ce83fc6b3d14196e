import { signed } from './signature.ts';

const SLOW_MS = 15_000;
const MOST_ANSWER = 8 * 1024 * 1024;

interface Ask {
  readonly secret: string;
  readonly now: number;
  readonly stopped?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Posts a signed text. Follows no redirect: it would give text and signature to another address. */
export async function askSigned(
  address: string,
  body: string,
  { secret, now, stopped, headers = {} }: Ask,
): Promise<{ readonly response: Response; readonly body: string }> {
  const signal = AbortSignal.any([AbortSignal.timeout(SLOW_MS), ...(stopped === undefined ? [] : [stopped])]);
  const response = await fetch(address, {
    ...{ method: 'POST', body, redirect: 'manual', signal },
    headers: { 'content-type': 'application/json', ...headers, ...signed(secret, body, now) },
  });
  return { response, body: await textOf(response) };
}

async function textOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > MOST_ANSWER) throw new Error('the answer is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
