import { constants, closeSync, fstatSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { plainJsonText, plainLine } from '../../text/plain-text.ts';
import type { Channel, IncomingMessage, Post, Posted } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';

/** A file of one day has no more. Lines above it are left out, and the last one says so. */
const MOST_BYTES = 5 * 1024 * 1024;
const MOST_DAYS = 14;
const LONGEST_TEXT = 4_000;
const NAME = /^\d{4}-\d{2}-\d{2}\.jsonl$/;

export interface TrafficPorts {
  /** Where the files are, one for each day. It has to be a folder of squad's own: no link in it is followed. */
  readonly folder: string;
  readonly redactor: Pick<Redactor, 'json'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Writes a line into a file for all that comes in and goes out of a channel, and for what people should see of it. Never fails for the file. */
export function withTraffic(channel: Channel, name: string, ports: TrafficPorts): Channel {
  const writer = createWriter(ports);
  const write = (line: object): void => writer({ channel: name, ...line });
  return {
    ...channel,
    listen: async (listening, stopped) =>
      channel.listen(
        {
          ...listening,
          take: async (message) => {
            await listening.take(message);
            write(lineOf(message));
          },
          state: (now, why) => {
            write({ event: now, ...(why === undefined ? {} : { why: plainLine(why, LONGEST_TEXT) }) });
            listening.state(now, why);
          },
          say: (text) => {
            write({ event: plainLine(text, LONGEST_TEXT) });
            listening.say(text);
          },
        },
        stopped,
      ),
    send: async (post) => {
      const posted = await channel.send(post);
      write(sentLine(post, posted));
      return posted;
    },
  };
}

function lineOf({ id, sender, name, place, text, attachments }: IncomingMessage): object {
  const files = attachments.map((one) => ({ name: plainLine(one.name), bytes: one.bytes }));
  return { in: id, sender, name, place, text: text.slice(0, LONGEST_TEXT), ...(files.length === 0 ? {} : { files }) };
}

function sentLine({ place, text, nonce }: Post, posted: Posted): object {
  const { did } = posted;
  return {
    out: nonce,
    place,
    text: text.slice(0, LONGEST_TEXT),
    did,
    ...(did === 'posted' ? {} : { why: posted.why }),
  };
}

function createWriter({ folder, redactor, clock }: TrafficPorts): (line: object) => void {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
  let full = '';
  return (line) => {
    const at = new Date(clock.now()).toISOString();
    const file = join(folder, `${at.slice(0, 10)}.jsonl`);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const opened = openSync(file, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
      try {
        const { size } = fstatSync(opened);
        const text = `${plainJsonText({ at, ...redactor.json(line) })}\n`;
        if (size === 0) dropOld(folder);
        if (size + Buffer.byteLength(text) <= MOST_BYTES) return void writeSync(opened, text);
        if (full !== file) writeSync(opened, `${plainJsonText({ at, event: 'more is left out of this file' })}\n`);
        full = file;
      } finally {
        closeSync(opened);
      }
    } catch {
      // The ledger has what people said. A disk that is full must not stop it.
    }
  };
}

function dropOld(folder: string): void {
  const days = readdirSync(folder).filter((name) => NAME.test(name));
  for (const name of days.toSorted().slice(0, -MOST_DAYS)) rmSync(join(folder, name), { force: true });
}
