/** A message as a channel hands it in. Nothing of it is trusted: only `sender` says who wrote it, as the channel itself has checked. */
export interface IncomingMessage {
  /** The channel's own id, unique and, for one place, in order. */
  readonly id: string;
  readonly sender: string;
  /** As the sender calls themselves. */
  readonly name: string;
  readonly place: string;
  readonly text: string;
  /** Whether it speaks to squad: a mention, a direct message, or a line in a thread that squad opened. Others are not read. */
  readonly isToUs: boolean;
  readonly attachments: readonly IncomingFile[];
  /** Epoch ms. */
  readonly at: number;
}

export interface IncomingFile {
  readonly name: string;
  readonly bytes: number;
  /** Its content; throws where it cannot be had, is larger than said, or comes from an address that is not allowed. */
  read(): Promise<Uint8Array>;
}

/** One part of a text that is due. */
export interface Post {
  readonly place: string;
  readonly text: string;
  /** Stays for each try: the channel posts two with one nonce once, as long as it remembers the first. */
  readonly nonce: string;
  /** Epoch ms of its first try, where this is not the first: that one may have come through. The channel then looks before it posts. */
  readonly triedAt?: number | undefined;
}

export type Posted =
  | { readonly did: 'posted' }
  /** Not now. `afterMs`: the channel's own word; absent: it said none. */
  | { readonly did: 'later'; readonly why: string; readonly afterMs?: number | undefined }
  /** Never here. `gone`: there is no such place any more. */
  | { readonly did: 'refused'; readonly why: string; readonly gone: boolean };

/** A way in which people talk to squad. Its own errors are words; it throws only for bugs. */
export interface Channel {
  /** The most characters of one post. */
  readonly longest: number;
  /**
   * Hands each message to `take`, one after the other, until `stopped`. A message is on record when `take` has resolved; where that fails it
   * is handed in again. `after`: the last id that is on record, of each place: what came since is caught up with.
   */
  listen(ports: ListenPorts, stopped: AbortSignal): Promise<void>;
  send(post: Post): Promise<Posted>;
  /** The place in which one sender reads alone; undefined: there is none. */
  directPlace(sender: string): Promise<string | undefined>;
  /** Messages of a place after an id, the oldest first; absent: the newest 50. */
  history(place: string, after?: string): AsyncIterable<IncomingMessage>;
}

export interface ListenPorts {
  readonly after: () => ReadonlyMap<string, string>;
  readonly take: (message: IncomingMessage) => Promise<void>;
  /** All of a place up to this id is done with, without a record: the place is new, or others talk there. `after` has it from now on. */
  readonly passed: (place: string, id: string) => Promise<void>;
  /** Says how the connection is, at each change. `why`: for people. */
  readonly state: (now: 'connected' | 'lost', why?: string) => void;
  /** Says what people should see besides. */
  readonly say: (text: string) => void;
}
