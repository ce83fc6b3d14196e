import { errorText } from '../../model/errors.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Page } from './page.ts';
import { Series } from './series.ts';

/** Looks at a run for the pages that show it. */
export interface Watched {
  /** The page as it is now; undefined: as it was. */
  look(): Promise<Page | undefined>;
  close(): Promise<void>;
}

/** A browser that follows a page. */
interface Follower {
  readonly send: (message: string) => void;
  /** The reader broke: the browser asks again. */
  readonly end: () => void;
}

interface FeedPorts {
  readonly open: () => Promise<Watched>;
  readonly clock: Pick<Clock, 'sleep' | 'monotonic'>;
  /** Each problem once. */
  readonly onProblem: (error: unknown) => void;
}

const LOOK_MS = 100;
/** A page that is loaded again finds its reader still there. */
const IDLE_MS = 10_000;

/** The pages of one address: however many there are, one reader looks for them, and none while there is no page. */
export class Feed {
  readonly #ports: FeedPorts;
  readonly #followers = new Set<Follower>();
  readonly #closed = new AbortController();
  #running: Promise<Series> | undefined;
  #loop: Promise<void> | undefined;
  #usedAt = 0;
  #problem: string | undefined;

  constructor(ports: FeedPorts) {
    this.#ports = ports;
  }

  /** The page, with the version that a browser gives back when it subscribes. */
  async current(): Promise<ReturnType<Series['current']>> {
    return (await this.#series()).current();
  }

  /** Sends what is new after `since`, and then each change. Returns what ends it. */
  subscribe(since: string, follower: Follower): () => void {
    let isLeft = false;
    this.#series().then(
      (series) => {
        if (isLeft) return;
        follower.send(series.after(since));
        this.#followers.add(follower);
      },
      (error: unknown) => {
        this.#tell(error);
        follower.end();
      },
    );
    return () => {
      isLeft = true;
      this.#followers.delete(follower);
    };
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running?.catch(() => undefined);
    await this.#loop;
  }

  async #series(): Promise<Series> {
    this.#usedAt = this.#ports.clock.monotonic();
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#running = undefined;
      throw error;
    });
    return this.#running;
  }

  async #start(): Promise<Series> {
    const watched = await this.#ports.open();
    const series = new Series();
    try {
      const page = await watched.look();
      if (page !== undefined) series.take(page);
    } catch (error) {
      await watched.close();
      throw error;
    }
    this.#loop = this.#follow(watched, series);
    return series;
  }

  async #follow(watched: Watched, series: Series): Promise<void> {
    const { clock } = this.#ports;
    try {
      while (!this.#closed.signal.aborted && !this.#isIdle()) {
        await clock.sleep(LOOK_MS, this.#closed.signal);
        const page = this.#closed.signal.aborted ? undefined : await watched.look();
        const message = page && series.take(page);
        if (message !== undefined) for (const { send } of this.#followers) send(message);
      }
    } catch (error) {
      this.#tell(error);
      for (const { end } of this.#followers) end();
    } finally {
      this.#running = undefined;
      await watched.close();
    }
  }

  #isIdle(): boolean {
    const now = this.#ports.clock.monotonic();
    if (this.#followers.size > 0) this.#usedAt = now;
    return now - this.#usedAt > IDLE_MS;
  }

  #tell(error: unknown): void {
    if (this.#problem === errorText(error)) return;
    this.#problem = errorText(error);
    this.#ports.onProblem(error);
  }
}
