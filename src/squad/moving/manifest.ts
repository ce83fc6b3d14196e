import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { badInput, SquadError } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { readEntry, readTar, type TarEntry } from '../../substrate/system/files/tar-file.ts';
import { parseJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Grows with each change that an older squad cannot read. */
const VERSION = 1;
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const commit = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const ref = z.string().regex(/^refs\/(?:heads\/)?squad\/[a-z0-9][\w./-]*$/);
/** Below the folder of the ledger, or of the checkout: no path that leaves it. */
const below = z.string().regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^/\0][^\0]*$/);

const partSchema = z.object({
  /** `state`: a file beside the ledger. `checkout`: a file of a folder that a run keeps up to date. */
  kind: z.enum(['ledger', 'bundle', 'state', 'checkout']),
  path: below,
  sha256: hash,
  bytes: z.int().nonnegative(),
  executable: z.literal(true).optional(),
});
export type PackPart = z.infer<typeof partSchema>;

const manifestSchema = z.object({
  version: z.literal(VERSION),
  /** Another pack of the same runs has another one. */
  id: z.uuid(),
  /** Epoch ms. */
  at: z.int(),
  /** The number of the ledger’s tables. */
  schema: z.int(),
  runs: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      /** An engine can continue it. */
      unfinished: z.boolean(),
      /** The commit that it began with, which the other repository has to have. */
      base: commit,
      /** Its branch, where the ledger has it. Absent: it has none. */
      branch: z.object({ ref, at: commit }).optional(),
    }),
  ),
  /** Commits that the bundle builds on. */
  needs: z.array(commit),
  parts: z.array(partSchema),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** The first file of a pack. Its name has its hash, so that no byte of it can change unnoticed. */
export function manifestPart(manifest: Manifest) {
  const text = `${JSON.stringify(manifest, undefined, 1)}\n`;
  return { name: `manifest-${sha256Of(text)}.json`, bytes: Buffer.byteLength(text), from: { text } };
}

export interface OpenedPack {
  readonly manifest: Manifest;
  /** By hash. */
  readonly entries: ReadonlyMap<string, TarEntry>;
}

/** Throws `bad-input` for what is no whole pack, and `schema-newer` for one of a newer squad. */
export async function readManifest(file: FileHandle, name: string): Promise<OpenedPack> {
  const [first, ...others] = (await readTar(file)) ?? [];
  const expected = /^manifest-([0-9a-f]{64})\.json$/.exec(first?.name ?? '')?.[1];
  if (first === undefined || expected === undefined || first.bytes > MOST_MANIFEST) throw damagedPack(name);
  const text = (await readEntry(file, first))?.toString('utf8') ?? '';
  if (sha256Of(text) !== expected) throw damagedPack(name, 'manifest');
  const manifest = parseManifest(text, name);
  const entries = new Map(others.map((entry) => [entry.name, entry]));
  for (const { sha256, bytes, path } of manifest.parts)
    if (entries.get(sha256)?.bytes !== bytes) throw damagedPack(name, path);
  return { manifest, entries };
}

/** `name`: what it is of, for people. */
export function parseManifest(text: string, name: string): Manifest {
  const json = parseJson(text);
  const version = z.object({ version: z.int() }).safeParse(json).data?.version;
  if (version !== undefined && version > VERSION) throw newerPack(name, version);
  const manifest = manifestSchema.safeParse(json).data;
  if (manifest === undefined) throw damagedPack(name, 'manifest');
  return manifest;
}

const MOST_MANIFEST = 64 * 1024 * 1024;

/** `part`: the part that is not as it was packed. */
export function damagedPack(file: string, part?: string): SquadError {
  const what =
    part === undefined
      ? 'is no whole pack of squad'
      : `is damaged: its part ${plainLine(part, 200)} is not as it was packed`;
  return badInput(
    `${plainLine(file, 300)} ${what}`,
    'Copy it again, or pack the runs again with `squad pack FILE`. Nothing was written.',
  );
}

function newerPack(file: string, version: number): SquadError {
  return new SquadError({
    code: 'schema-newer',
    message: `${plainLine(file, 300)} was packed by a newer squad: format ${version}, and this one reads ${VERSION}`,
    next: 'Update squad here, then run the command again.',
  });
}
