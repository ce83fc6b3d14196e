// @module-tag all
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FolderFile, FolderMoment, KeepsFolder } from '../../../src/model/folder.ts';
import { openHashLog } from '../../../src/substrate/system/files/hash-log.ts';
import { sha256Of } from '../../../src/model/sha256.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';
import { temporaryFolder } from '../../substrate/ledger/support.ts';
import { filesOf } from '../../support/run-files.ts';

/** A run on a folder, whose playbook says what these files say at the moment. */
class FolderRun {
  readonly folder = join(temporaryFolder(), 'session');
  readonly run: RecordedRun;
  says: FolderFile[] = [];
  status: FolderMoment['status'] | undefined;
  private readonly playbook: { readonly folder: KeepsFolder } = {
    folder: (_view, { status }) => {
      this.status = status;
      return this.says;
    },
  };
  private engine: ReturnType<typeof filesOf> | undefined;

  constructor(held: Readonly<Record<string, string>> = {}) {
    this.run = new RecordedRun({ ...definition(), folder: this.folder })
      .allocate()
      .turn('plan', 1, 'ada', { text: '' });
    for (const [path, text] of Object.entries(held)) this.edit(path, text);
    mkdirSync(this.folder, { recursive: true });
  }

  get hashes(): string {
    return join(this.run.directory, 'runs', this.run.id, 'folder.jsonl');
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  /** Its files by their paths. */
  texts(): Readonly<Record<string, string>> {
    const found = readdirSync(this.folder, { recursive: true, withFileTypes: true });
    const paths = found
      .filter((one) => one.isFile())
      .map((one) => relative(this.folder, join(one.parentPath, one.name)));
    return Object.fromEntries(paths.map((path) => [path, this.read(path)]));
  }

  /** As a person does. */
  edit(path: string, text: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  /** An engine takes the run up, writes what the playbook says, and ends its segment. */
  async segment(...says: FolderFile[]): Promise<string[]> {
    const { files, warnings } = filesOf(this.run, this.playbook);
    this.says = says;
    files.changed(this.run.read().board);
    await files.end('stopped');
    return warnings;
  }

  /** The engine that works writes what the playbook says now. */
  async changed(...says: FolderFile[]): Promise<void> {
    this.engine ??= filesOf(this.run, this.playbook);
    this.says = says;
    this.status = undefined;
    this.engine.files.changed(this.run.read().board);
    await expect.poll(() => this.status, { interval: 20, timeout: 20_000 }).toBeDefined();
    await expect
      .poll(() => says.every(({ path, text }) => existsSync(this.at(path)) && this.read(path) === text), {
        timeout: 20_000,
      })
      .toBe(true);
  }

  async end(): Promise<string[]> {
    await this.engine?.files.end('stopped');
    return this.engine?.warnings ?? [];
  }
}

const STATE = { path: 'state.json', text: '{"done":0}\n' };
const NOTES = { path: 'wisdom/notes.md', text: '# Notes\n' };

describe('the folder that a run was started on', () => {
  it('gets its files, and a change of one rewrites that one alone', async () => {
    const about = new FolderRun();
    await about.changed(STATE, NOTES);
    const before = statSync(about.at('wisdom/notes.md')).ino;
    await about.changed({ ...STATE, text: '{"done":1}\n' }, NOTES);
    expect(statSync(about.at('wisdom/notes.md')).ino).toBe(before);
    expect(await about.end()).toEqual([]);
    expect(about.texts()).toEqual({ 'state.json': '{"done":1}\n', 'wisdom/notes.md': '# Notes\n' });
  });

  it('may change what it held at the start, and keeps the permissions of its files', async () => {
    const about = new FolderRun({ 'state.json': 'as it was' });
    chmodSync(about.at('state.json'), 0o664);
    expect(await about.segment({ ...STATE, held: sha256Of('as it was') })).toEqual([]);
    expect(readdirSync(about.folder)).toEqual(['state.json']);
    expect(statSync(about.at('state.json')).mode & 0o777).toBe(0o664);
  });

  it.each([
    ['by the engine that wrote it', async (about: FolderRun) => about.changed(STATE)],
    ['by the next engine', async (about: FolderRun) => void (await about.segment(STATE))],
  ])('keeps what a person wrote over a file, and tells it once: %s', async (_by, first) => {
    const about = new FolderRun();
    await first(about);
    about.edit('state.json', 'mine');
    await about.changed({ ...STATE, text: '{"done":1}\n' });
    await about.changed({ ...STATE, text: '{"done":2}\n' });
    expect(about.texts()).toEqual({ 'state.json': '{"done":2}\n', 'state.json.theirs': 'mine' });
    expect(await about.end()).toEqual([
      `someone else wrote state.json in ${about.folder}. squad kept it as state.json.theirs and wrote its own again`,
    ]);
  });

  it('keeps a second edit under a name of its own', async () => {
    const about = new FolderRun({ 'state.json': 'one' });
    expect(await about.segment(STATE)).toEqual([
      `state.json was in ${about.folder} before this run wrote it. squad kept it as state.json.theirs and wrote its own again`,
    ]);
    about.edit('state.json', 'two');
    expect(await about.segment(STATE)).toHaveLength(1);
    const kept = { 'state.json.theirs': 'one', 'state.json.theirs-2': 'two' };
    expect(about.texts()).toEqual({ 'state.json': STATE.text, ...kept });
  });

  it('keeps an edit once, also if squad was killed before it wrote its own file', async () => {
    const about = new FolderRun({ 'state.json': 'mine', 'state.json.theirs': 'mine' });
    expect(await about.segment(STATE)).toEqual([expect.stringContaining('squad kept it as state.json.theirs and ')]);
    expect(about.texts()).toEqual({ 'state.json': STATE.text, 'state.json.theirs': 'mine' });
  });

  it('gets back what a person changed or removed, also where its text stays as it is', async () => {
    const about = new FolderRun();
    await about.changed(STATE, NOTES);
    about.edit('wisdom/notes.md', 'mine');
    rmSync(about.at('state.json'));
    await about.changed(STATE, NOTES);
    expect(await about.end()).toHaveLength(1);
    expect(about.read('wisdom/notes.md.theirs')).toBe('mine');
  });

  it('takes a file that says the same for its own', async () => {
    const about = new FolderRun({ 'state.json': STATE.text });
    expect(await about.segment(STATE)).toEqual([]);
    expect(await about.segment({ ...STATE, text: 'later' })).toEqual([]);
    expect(about.texts()).toEqual({ 'state.json': 'later' });
  });

  it.each([
    ['an earlier text of squad’s own', STATE.text],
    ['what the folder held at the start', 'as it was'],
  ])('keeps %s that a person has put back', async (_what, text) => {
    const about = new FolderRun({ 'state.json': 'as it was' });
    const held = sha256Of('as it was');
    for (const now of [STATE.text, 'later']) expect(await about.segment({ ...STATE, text: now, held })).toEqual([]);
    about.edit('state.json', text);
    expect(await about.segment({ ...STATE, text: 'last', held })).toEqual([
      expect.stringContaining('someone else wrote state.json'),
    ]);
    expect(about.texts()).toEqual({ 'state.json': 'last', 'state.json.theirs': text });
  });

  it('knows its own file after crashes one after the other, each before the file was renamed', async () => {
    const about = new FolderRun({ 'state.json': 'as it was' });
    const held = sha256Of('as it was');
    const planned = ['one', 'two', 'three'].map((text) => ({ path: 'state.json', sha256: sha256Of(text) }));
    const log = await openHashLog(about.hashes);
    for (const entry of planned) await log.add([entry]);
    expect(await about.segment({ ...STATE, held })).toEqual([]);
    const next = await openHashLog(about.hashes);
    for (const entry of planned) await next.add([entry]);
    expect(await about.segment({ ...STATE, text: 'last', held })).toEqual([]);
    expect(about.texts()).toEqual({ 'state.json': 'last' });
  });

  it('takes a large file for its own too', async () => {
    const about = new FolderRun({ 'state.json': '' });
    const size = 64 * 1024 * 1024 + 1;
    truncateSync(about.at('state.json'), size);
    expect(await about.segment({ ...STATE, held: sha256Of(Buffer.alloc(size)) })).toEqual([]);
    expect(about.texts()).toEqual({ 'state.json': STATE.text });
  });

  it('gets the rest where a folder has become a file, by the engine at work and by the next one', async () => {
    const about = new FolderRun();
    const deep = { path: 'wisdom/of/all.md', text: 'all' };
    await about.changed(NOTES, deep, STATE);
    rmSync(about.at('wisdom'), { recursive: true });
    about.edit('wisdom', 'a file, and no folder');
    about.says = [NOTES, deep, { ...STATE, text: 'more' }];
    expect(await about.end()).toEqual([expect.stringContaining('are not complete: ')]);
    expect(about.read('state.json')).toBe('more');
    expect(await about.segment(NOTES, deep, { ...STATE, text: 'most' })).toHaveLength(1);
    expect(about.texts()).toEqual({ 'state.json': 'most', wisdom: 'a file, and no folder' });
  });

  it('knows its own file after a crash, even if the list of hashes was cut', async () => {
    const about = new FolderRun();
    await about.segment(STATE);
    writeFileSync(about.hashes, `${readFileSync(about.hashes, 'utf8')}{"path":"sta`);
    expect(await about.segment({ ...STATE, text: 'two' })).toEqual([]);
    expect(await about.segment({ ...STATE, text: 'three' })).toEqual([]);
    expect(about.texts()).toEqual({ 'state.json': 'three' });
  });

  it('loses what a killed engine left half written, and nothing else with such a name', async () => {
    const about = new FolderRun();
    await about.segment(STATE, NOTES);
    about.edit('.new-12-3-state.json', 'half');
    about.edit('wisdom/.new-12-4-notes.md', 'half');
    about.edit('.new-12-3-mine.json', 'mine');
    await about.segment(STATE, NOTES);
    expect(readdirSync(about.folder).toSorted()).toEqual(['.new-12-3-mine.json', 'state.json', 'wisdom']);
    expect(readdirSync(about.at('wisdom'))).toEqual(['notes.md']);
  });

  it('is not left through a link, and a link or a folder in the place of a file is kept', async () => {
    const elsewhere = temporaryFolder();
    writeFileSync(join(elsewhere, 'secret.md'), 'theirs');
    const about = new FolderRun();
    symlinkSync(elsewhere, about.at('wisdom'));
    symlinkSync(join(elsewhere, 'secret.md'), about.at('state.json'));
    mkdirSync(about.at('other.json'));
    const other = { path: 'other.json', text: '{}' };
    const warnings = await about.segment(NOTES, STATE, other);
    expect(warnings).toHaveLength(3);
    expect(warnings).toContainEqual(expect.stringContaining('wisdom is a link; remove it'));
    expect(readdirSync(elsewhere)).toEqual(['secret.md']);
    expect(readFileSync(join(elsewhere, 'secret.md'), 'utf8')).toBe('theirs');
    expect(about.read('state.json')).toBe(STATE.text);
    expect(readdirSync(about.folder).toSorted()).toEqual([
      ...['other.json', 'other.json.theirs', 'state.json', 'state.json.theirs', 'wisdom'],
    ]);
  });

  it('gets the rest where one file cannot be written, with one warning, and that one once it can be', async () => {
    const about = new FolderRun({ wisdom: 'a file, and no folder' });
    await about.changed(STATE).then(async () => about.changed({ ...STATE, text: 'more' }));
    about.says = [NOTES, { ...STATE, text: 'most' }];
    await about
      .end()
      .then((warnings) => expect(warnings).toEqual([expect.stringContaining(`${about.folder} are not complete: `)]));
    expect(about.read('state.json')).toBe('most');
    rmSync(about.at('wisdom'));
    expect(await about.segment(NOTES, { ...STATE, text: 'most' })).toEqual([]);
    expect(about.read('wisdom/notes.md')).toBe(NOTES.text);
  });

  it('is not made again once a person has moved it away', async () => {
    const about = new FolderRun();
    await about.segment(STATE);
    renameSync(about.folder, `${about.folder}-moved`);
    expect(await about.segment({ ...STATE, text: 'two' })).toEqual([expect.stringContaining('is not there any more')]);
    expect(existsSync(about.folder)).toBe(false);
  });

  it('is written only at the end where squad cannot remember what it wrote', async () => {
    const about = new FolderRun({ 'state.json': 'as it was' });
    mkdirSync(about.hashes, { recursive: true });
    const state = { ...STATE, held: sha256Of('as it was') };
    const { files, warnings } = filesOf(about.run, { folder: () => [state] });
    files.changed(about.run.read().board);
    await expect.poll(() => warnings, { timeout: 20_000 }).toHaveLength(1);
    expect(about.texts()).toEqual({ 'state.json': 'as it was' });
    await files.end('stopped');
    expect(warnings).toEqual([1, 2].map(() => expect.stringContaining(`${about.folder} are not complete: `)));
    expect(about.texts()).toEqual({ 'state.json': STATE.text });
    rmSync(about.hashes, { recursive: true });
    expect(await about.segment(state)).toEqual([]);
  });
});
