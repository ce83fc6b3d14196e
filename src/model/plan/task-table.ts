import type { NewTask } from './task.ts';
import type { Work } from './work.ts';

/** When a task got where it is (epoch ms). All but `added` are absent until it does. */
export interface TaskTimes {
  readonly added: number;
  /** Its first attempt, or its check. */
  readonly started?: number;
  /** Its newest review, which began when its work had ended. */
  readonly judged?: number;
  /** Its end, as long as it is not opened again. */
  readonly ended?: number;
}

export interface TaskState {
  readonly task: NewTask;
  /** Order of arrival. */
  readonly order: number;
  readonly depth: number;
  readonly at: TaskTimes;
  readonly work: Work;
}

interface Parts {
  readonly size: number;
  readonly attempts: number;
  /** In order of arrival; all but the last have CHUNK tasks. */
  readonly chunks: readonly (readonly TaskState[])[];
  /** Place of each task; see `#placesWith`. */
  readonly places: Map<string, number>;
  /** Places of the open ones, in order. */
  readonly open: readonly number[];
}

const CHUNK = 32;

/**
 * The tasks of a plan by id, in order of arrival. Immutable: a new table shares all but one chunk with the old one, so that a
 * step costs the same however many tasks have ended.
 */
export class TaskTable implements ReadonlyMap<string, TaskState> {
  readonly #parts: Parts;
  #open: readonly TaskState[] | undefined;

  constructor(parts: Parts = { size: 0, attempts: 0, chunks: [], places: new Map(), open: [] }) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#parts.size;
  }

  /** Attempts at all tasks so far. */
  get attempts(): number {
    return this.#parts.attempts;
  }

  /** Tasks that have not ended or wait for an unwanted attempt. Decisions look at these only. */
  get open(): readonly TaskState[] {
    this.#open ??= this.#parts.open.flatMap((place) => this.#at(place) ?? []);
    return this.#open;
  }

  get(id: string): TaskState | undefined {
    const place = this.#parts.places.get(id);
    return place === undefined ? undefined : this.#at(place);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  with(state: TaskState): TaskTable {
    const { id } = state.task;
    const { size, attempts, chunks, places, open } = this.#parts;
    const old = this.get(id);
    const place = old === undefined ? size : (places.get(id) ?? size);
    const index = Math.floor(place / CHUNK);
    const chunk = [...(chunks[index] ?? [])];
    chunk[place % CHUNK] = state;
    const changed = [...chunks];
    changed[index] = chunk;
    return new TaskTable({
      size: old === undefined ? size + 1 : size,
      attempts: attempts + state.work.attempts - (old?.work.attempts ?? 0),
      chunks: changed,
      places: old === undefined ? this.#placesWith(id) : places,
      open: openWith(open, place, old !== undefined && isOpen(old), isOpen(state)),
    });
  }

  /** Tasks that were added or changed. */
  changedSince(before: TaskTable): TaskState[] {
    const old = before.#parts.chunks;
    return this.#parts.chunks.flatMap((chunk, index) =>
      chunk === old[index] ? [] : chunk.filter((state, at) => state !== old[index]?.[at]),
    );
  }

  values(): MapIterator<TaskState> {
    return this.#all().values();
  }

  keys(): MapIterator<string> {
    return this.#all()
      .map(({ task }) => task.id)
      .values();
  }

  entries(): MapIterator<[string, TaskState]> {
    return this.#all()
      .map((state): [string, TaskState] => [state.task.id, state])
      .values();
  }

  [Symbol.iterator](): MapIterator<[string, TaskState]> {
    return this.entries();
  }

  forEach(look: (state: TaskState, id: string, table: ReadonlyMap<string, TaskState>) => void): void {
    for (const [id, state] of this) look(state, id, this);
  }

  #all(): TaskState[] {
    return this.#parts.chunks.flat();
  }

  #at(place: number): TaskState | undefined {
    return this.#parts.chunks[Math.floor(place / CHUNK)]?.[place % CHUNK];
  }

  /**
   * Tables of one line of changes share an index, which may know places that an older table does not reach. Only the newest
   * table of a line adds to it; a second line from an older table gets its own index.
   */
  #placesWith(id: string): Map<string, number> {
    const { places, size } = this.#parts;
    const own = places.size === size ? places : new Map([...places].filter(([, place]) => place < size));
    return own.set(id, size);
  }
}

function isOpen({ work }: TaskState): boolean {
  return work.phase.at !== 'ended' || work.leaving.length > 0;
}

function openWith(open: readonly number[], place: number, was: boolean, is: boolean): readonly number[] {
  if (was === is) return open;
  return is ? [...open, place].toSorted((a, b) => a - b) : open.filter((one) => one !== place);
}
