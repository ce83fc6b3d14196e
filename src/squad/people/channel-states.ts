import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../text/json.ts';
import { serviceFolder } from '../service/service-lock.ts';

const stateSchema = z.object({
  /** `off`: it is not used, and `why` says what a person can do. */
  state: z.enum(['starting', 'connected', 'lost', 'off']),
  /** Epoch ms. */
  since: z.number(),
  why: z.string().optional(),
});
export type ChannelState = z.infer<typeof stateSchema>;

const fileSchema = z.object({ pid: z.number(), channels: z.record(z.string(), stateSchema) });

function fileIn(directory: string): string {
  return join(serviceFolder(directory), 'channels.json');
}

/** How the channels of this process are, in a file for `squad serve status`. A disk that is full stops no channel. */
export function createChannelStates(directory: string, pid: number, now: () => number) {
  const channels: Record<string, ChannelState> = {};
  const write = (): void => {
    const file = fileIn(directory);
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.new`, JSON.stringify({ pid, channels }), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    } catch {
      // It is a view: what counts is on record.
    }
  };
  return {
    of: (name: string): ChannelState | undefined => channels[name],
    set: (name: string, state: ChannelState['state'], why?: string): void => {
      const before = channels[name];
      if (before?.state === state && before.why === why) return;
      const since = before?.state === state ? before.since : now();
      channels[name] = { state, since, ...(why === undefined ? {} : { why }) };
      write();
    },
    remove: (name: string): void => {
      delete channels[name];
      write();
    },
  };
}

export type ChannelStates = ReturnType<typeof createChannelStates>;

/** As the service with this process last said; undefined: another one did, or none. */
export function readChannelStates(
  directory: string,
  pid: number | undefined,
): Readonly<Record<string, ChannelState>> | undefined {
  try {
    const read = fileSchema.safeParse(parseJson(readFileSync(fileIn(directory), 'utf8'))).data;
    return read?.pid === pid ? read?.channels : undefined;
  } catch {
    return undefined;
  }
}
