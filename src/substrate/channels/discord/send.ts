import { createHash } from 'node:crypto';
import type { APIMessage } from 'discord-api-types/v10';
import type { Post, Posted } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import { CODE, type Failure } from './answer.ts';
import { PAGE, type DiscordApi } from './api.ts';
import { idAt, placeOf } from './places.ts';
import type { Answer } from './rest.ts';
import type { Spots } from './spots.ts';

/** Discord takes no longer one. */
const NONCE_LENGTH = 25;
/** Discord forgets a nonce within minutes; it does not say how many. */
const FORGOTTEN_MS = 60_000;
/** How far its clock may be behind. */
const CLOCKS_MS = 30_000;
const MOST_REMEMBERED = 500;
/** No thread can be opened on a message there. */
const NO_THREAD: readonly number[] = [CODE.noPermission, CODE.noAccess, CODE.notHere];

export interface SendPorts {
  readonly api: DiscordApi;
  readonly spots: Spots;
  readonly clock: Clock;
}

/** Posts, one try each. Knows what it has posted itself. */
export function createSender({ api, spots, clock }: SendPorts) {
  const nonces = new Set<string>();
  const posted = new Set<string>();
  const put = async (channel: string, text: string, nonce: string, answers?: string): Promise<Posted | Failure> => {
    const answer = await api.post(channel, { text, nonce, answers });
    if (!('value' in answer)) return answer;
    keep(posted, answer.value.id);
    return { did: 'posted' };
  };
  return {
    send: async (post: Post): Promise<Posted> => {
      const { text, triedAt } = post;
      const nonce = shortNonce(post.nonce);
      const { channel, parent } = placeOf(post.place);
      keep(nonces, nonce);
      if (triedAt !== undefined && clock.now() - triedAt > FORGOTTEN_MS) {
        const found = await isThere(api, { channel, text, since: triedAt - CLOCKS_MS }, posted);
        if ('value' in found ? found.value : found.did === 'later') return 'value' in found ? POSTED : plain(found);
      }
      const first = await put(channel, text, nonce);
      if (first.did !== 'refused' || parent === undefined || codeOf(first) !== CODE.unknownChannel) return plain(first);
      const opened = await api.openThread(parent, channel, spots.nameOf(channel));
      if (!('value' in opened) && opened.code !== CODE.hasThread) {
        return plain(NO_THREAD.includes(opened.code ?? 0) ? await put(parent, text, nonce, channel) : opened);
      }
      return plain(await put(channel, text, nonce));
    },
    /** Whether this process has posted it. */
    isOwn: ({ id, nonce }: APIMessage): boolean => posted.has(id) || (nonce !== undefined && nonces.has(String(nonce))),
  };
}

const POSTED: Posted = { did: 'posted' };

/** Whether an earlier try has come through: the same text of the bot, which squad does not know as another post. */
async function isThere(
  api: DiscordApi,
  { channel, text, since }: { readonly channel: string; readonly text: string; readonly since: number },
  known: ReadonlySet<string>,
): Promise<Answer<boolean>> {
  const self = await api.self();
  if (!('value' in self)) return self;
  for (let after = idAt(since); ;) {
    const page = await api.messages(channel, { after, limit: PAGE });
    if (!('value' in page)) return page;
    const isSame = ({ id, author, content }: APIMessage): boolean =>
      author.id === self.value && content.trim() === text.trim() && !known.has(id);
    if (page.value.some(isSame)) return { value: true };
    const last = page.value.at(-1);
    if (last === undefined || page.value.length < PAGE) return { value: false };
    after = last.id;
  }
}

function codeOf(answer: Posted | Failure): number | undefined {
  return 'code' in answer ? answer.code : undefined;
}

/** Without what only this folder knows. */
function plain(answer: Posted | Failure): Posted {
  if (answer.did === 'posted') return POSTED;
  const { why } = answer;
  return answer.did === 'refused'
    ? { did: 'refused', why, gone: answer.gone }
    : { did: 'later', why, ...(answer.afterMs === undefined ? {} : { afterMs: answer.afterMs }) };
}

function shortNonce(nonce: string): string {
  if (nonce.length <= NONCE_LENGTH) return nonce;
  return createHash('sha256')
    .update(nonce)
    .digest('base64url')
    .slice(0, NONCE_LENGTH - 1);
}

function keep(set: Set<string>, one: string): void {
  set.add(one);
  const [first = ''] = set;
  if (set.size > MOST_REMEMBERED) set.delete(first);
}
