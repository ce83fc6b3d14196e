import { z } from 'zod';
import { defined } from '../../text/defined.ts';
import { parseJson } from '../../text/json.ts';
import { parseYaml } from '../../text/yaml-file.ts';

/** A step of `setup`, as `squad init` writes it. */
export interface SetupProposal {
  readonly run: string;
  readonly reuse?: readonly string[];
  readonly when?: readonly string[];
}

interface Steps {
  readonly setup?: SetupProposal;
  readonly verify: string;
}

interface Around {
  readonly names: readonly string[];
  readonly packageJson?: string | undefined;
  readonly workspaces?: string | undefined;
  readonly yarnSettings?: string | undefined;
}

type Has = (name: string) => boolean;

export const NPM: SetupProposal = {
  run: 'npm ci',
  reuse: ['node_modules'],
  when: ['package.json', 'package-lock.json'],
};

const NPM_EACH = 'npm test --workspaces --if-present';

/** Hard links of a package manager lead out of the folder: what has them cannot be given to another one. */
const MANAGERS = [
  {
    locks: ['pnpm-lock.yaml'],
    run: 'pnpm install --frozen-lockfile --package-import-method=copy',
    reads: ['.npmrc', 'pnpm-workspace.yaml', '.pnpmfile.cjs'],
    verify: 'pnpm test',
    each: 'pnpm -r test',
  },
  {
    locks: ['bun.lock', 'bun.lockb'],
    run: 'bun install --frozen-lockfile --backend=copyfile',
    reads: ['bunfig.toml', '.npmrc'],
    verify: 'bun run test',
    each: "bun run --filter '*' test",
  },
  {
    locks: ['yarn.lock'],
    run: 'yarn install --frozen-lockfile',
    reads: ['.yarnrc', '.yarnrc.yml', '.npmrc'],
    verify: 'yarn test',
    each: 'yarn workspaces run test',
  },
  {
    locks: ['package-lock.json', 'npm-shrinkwrap.json'],
    run: 'npm ci',
    reads: ['.npmrc'],
    verify: 'npm test',
    each: NPM_EACH,
  },
] as const;

/** A new clone has no node_modules, neither at the root nor in a workspace. */
export function proposeNode({ names, packageJson, workspaces, yarnSettings }: Around): Steps {
  const has: Has = (name) => names.includes(name);
  const found = MANAGERS.find(({ locks }) => locks.some(has));
  if (found === undefined) return { verify: 'npm test' };
  const { locks, reads, verify } = found;
  const isNewYarn = verify === 'yarn test' && yarnSettings !== undefined;
  const run = isNewYarn ? 'yarn install --immutable' : found.run;
  // Without node_modules its packages are in an archive of the person, by paths that fit one folder.
  if (isNewYarn && !/^nodeLinker:\s*["']?node-modules\b/m.test(yarnSettings)) return { setup: { run }, verify };
  const folders = workspaceFolders(packageJson, workspaces);
  if (folders === undefined) return { setup: { run }, verify };
  const reuse = ['node_modules', ...folders.map((folder) => `${folder}/node_modules`)];
  const when = [
    'package.json',
    ...[...locks, ...reads].filter(has),
    ...folders.map((folder) => `${folder}/package.json`),
  ];
  return { setup: { run, reuse, when }, verify };
}

const globsSchema = z.array(z.string());
const packageSchema = z.object({
  workspaces: z.union([globsSchema, z.object({ packages: globsSchema }).transform((one) => one.packages)]),
});
const pnpmSchema = z.looseObject({ packages: globsSchema.optional() });

/** Paths of workspaces, in which `*` is a name. undefined: squad’s paths cannot express them. */
function workspaceFolders(packageJson = '', workspaces = ''): readonly string[] | undefined {
  const ofPackage = packageSchema.safeParse(parseJson(packageJson)).data?.workspaces ?? [];
  const source = { file: '', text: workspaces, firstLine: 1, examples: {}, hints: {} };
  const pnpm = workspaces === '' ? undefined : parseYaml(source, pnpmSchema);
  if (pnpm?.ok === false) return undefined;
  const ofPnpm = pnpm?.value.packages ?? [];
  const globs = [...ofPackage, ...ofPnpm].map((glob) => glob.replace(/^\.\//, '').replace(/\/+$/, ''));
  const isOdd = (glob: string): boolean =>
    !/^[\w@.*-]+(?:\/[\w@.*-]+)*$/.test(glob) || /\*\*|(?:^|\/)\.\.?(?:\/|$)/.test(glob);
  const folders = globs.filter((glob) => !glob.startsWith('!') && glob !== '.');
  return folders.some(isOdd) ? undefined : [...new Set(folders)];
}

/** Whether the root only holds workspaces, each of which may have tests. */
export function hasWorkspaces({ packageJson, workspaces }: Around): boolean {
  const folders = workspaceFolders(packageJson, workspaces);
  return folders === undefined || folders.length > 0;
}

/** Tests in each workspace, of a root that has none of its own. */
export function proposeWorkspaces(around: Around): Steps {
  const { setup, verify } = proposeNode(around);
  const isNewYarn = verify === 'yarn test' && around.yarnSettings !== undefined;
  const each = MANAGERS.find((one) => one.verify === verify)?.each ?? NPM_EACH;
  return { ...defined({ setup }), verify: isNewYarn ? 'yarn workspaces foreach --all run test' : each };
}

/** No `target`: Cargo compares the times of its files with those of the sources, which differ in each folder. */
export function proposeCargo(has: Has): Steps {
  return { ...(has('Cargo.lock') ? { setup: { run: 'cargo fetch --locked' } } : {}), verify: 'cargo test' };
}

/** Its cache is not in the folder, and is known by content already. */
export function proposeGo(has: Has): Steps {
  return { ...(has('go.sum') ? { setup: { run: 'go mod download' } } : {}), verify: 'go test ./...' };
}

/** The project itself is not installed, because its entry would name the folder; `uv run` adds it. */
export function proposeUv(has: Has): Steps {
  const run = 'uv venv --relocatable --allow-existing && uv sync --locked --no-install-workspace --link-mode=copy';
  const when = ['pyproject.toml', 'uv.lock', ...['.python-version', 'uv.toml'].filter(has)];
  return { setup: { run, reuse: ['.venv'], when }, verify: 'uv run pytest' };
}

/** Programs in its environment name their folder, so that each folder needs its own. */
export const POETRY: Steps = {
  setup: { run: 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction' },
  verify: 'poetry run pytest',
};
