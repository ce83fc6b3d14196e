/** Discord counts its ids from here. */
const EPOCH_MS = 1_420_070_400_000;

/**
 * A place of Discord: the id of a channel, or `<channel>/<message>`, the thread that squad opens on a message with its first answer. Discord
 * gives such a thread the id of its message.
 */
export interface Place {
  /** Where it is read and written. */
  readonly channel: string;
  /** Squad's own thread hangs below this channel; absent for all else. */
  readonly parent: string | undefined;
}

export function placeOf(text: string): Place {
  const [first = '', second] = text.split('/', 2);
  return second === undefined ? { channel: first, parent: undefined } : { channel: second, parent: first };
}

export function ownThread(parent: string, message: string): string {
  return `${parent}/${message}`;
}

/** Whether an id is newer: they are numbers of up to 20 digits. */
export function isAfter(id: string, other: string): boolean {
  return id.length === other.length ? id > other : id.length > other.length;
}

/** The smallest id of an instant. */
export function idAt(ms: number): string {
  return String(BigInt(Math.max(0, Math.floor(ms) - EPOCH_MS)) << 22n);
}

/** Epoch ms at which an id was given; 0 for what is none. */
export function timeOf(id: string): number {
  return /^\d{1,20}$/.test(id) ? Number(BigInt(id) >> 22n) + EPOCH_MS : 0;
}
