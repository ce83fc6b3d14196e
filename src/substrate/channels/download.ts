import { lookup as lookUp } from 'node:dns';
import { request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { badInput, type SquadError } from '../../model/errors.ts';
import { MOST_FILE_BYTES } from '../../model/sprint/request.ts';
import { byteCount } from '../../text/byte-count.ts';
import { plainLine, quotedName } from '../../text/plain-text.ts';

const LONGEST_MS = 60_000;

export interface WantedFile {
  /** As its sender calls it. */
  readonly name: string;
  readonly url: string;
  /** As its sender says. */
  readonly bytes: number;
}

export interface AllowedAddresses {
  /** Hosts by name; absent: all that are not private. */
  readonly hosts?: readonly string[];
  /** The beginning of an address that a person has named in the settings: it may be private, and without TLS. */
  readonly named?: string | undefined;
}

/** Addresses of this machine and of networks that only it can reach; ways into them from the newer protocol, too. */
const PRIVATE = new BlockList();
for (const [family, nets] of Object.entries({
  ipv4: '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3',
  ipv6: '::/96 64:ff9b::/32 2001::/32 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8',
})) {
  for (const [net = '', prefix] of nets.split(' ').map((one) => one.split('/'))) {
    PRIVATE.addSubnet(net, Number(prefix), family === 'ipv4' ? 'ipv4' : 'ipv6');
  }
}

/** Whether an address is one that a stranger must not have squad reach. */
export function isPrivate(address: string): boolean {
  const family = isIP(address);
  return family === 0 || PRIVATE.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The content of a file that came with a message. Throws `bad-input`, in words for its sender, where it is not to be had. */
export async function download(file: WantedFile, allowed: AllowedAddresses): Promise<Uint8Array> {
  if (file.bytes > MOST_FILE_BYTES) throw refused(file, `it is larger than ${byteCount(MOST_FILE_BYTES)}`);
  const url = URL.canParse(file.url) ? new URL(file.url) : undefined;
  if (url === undefined) throw refused(file, 'its address is none');
  const isNamed = allowed.named !== undefined && url.href.startsWith(new URL(allowed.named).origin + '/');
  if (!isNamed) requireAllowed(file, url, allowed);
  const signal = AbortSignal.timeout(LONGEST_MS);
  try {
    return await readBounded(file, await open(url, isNamed, signal));
  } catch (error) {
    if (signal.aborted) throw refused(file, 'it did not arrive within a minute');
    throw error instanceof Error && error.name === 'SquadError' ? error : refused(file, plainLine(String(error)));
  }
}

function requireAllowed(file: WantedFile, url: URL, { hosts }: AllowedAddresses): void {
  if (url.protocol !== 'https:') throw refused(file, 'its address is not one of https');
  const host = url.hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isPrivate(host)) throw refused(file, PRIVATE_TEXT);
  if (hosts !== undefined && !hosts.includes(host))
    throw refused(file, 'it is kept by another server than the channel’s');
}

const PRIVATE_TEXT = 'its address is a private one';

/** The name is looked up once, and what was checked is what is connected to. */
const checkedLookup: NonNullable<RequestOptions['lookup']> = (host, options, done) => {
  lookUp(host, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, '');
    const [first] = found;
    if (first === undefined || found.some(({ address }) => isPrivate(address)))
      return done(new Error(PRIVATE_TEXT), '');
    return options.all === true ? done(null, found) : done(null, first.address, first.family);
  });
};

async function open(url: URL, isNamed: boolean, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => {
    request(url, { signal, agent: false, ...(isNamed ? {} : { lookup: checkedLookup }) }, resolve)
      .on('error', reject)
      .end();
  });
}

async function readBounded(file: WantedFile, response: IncomingMessage): Promise<Uint8Array> {
  const { statusCode: status = 0 } = response;
  const stop = (why: string): SquadError => {
    response.destroy();
    return refused(file, why);
  };
  if (status >= 300 && status < 400) throw stop('its address leads to another one');
  if (status !== 200) throw stop(`its server answers with ${status}`);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_FILE_BYTES) throw stop(`it is larger than ${byteCount(MOST_FILE_BYTES)}`);
    if (length > file.bytes) throw stop('it is larger than its sender said');
    chunks.push(chunk);
  }
  if (length < file.bytes) throw stop('it is smaller than its sender said');
  return Buffer.concat(chunks);
}

function refused({ name }: WantedFile, why: string): SquadError {
  return badInput(`the file ${quotedName(name)} is not taken: ${why.replace(/^Error: /, '')}`, 'Attach a plain file.');
}
