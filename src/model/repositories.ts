import { z } from 'zod';
import { isSlug, LONGEST_SLUG, plainSlug } from './slug.ts';
import { slugSchema } from './settings-text.ts';
import { pathsOf, setupSchema, stepSchema, type SetupStep } from './setup-step.ts';

/** The folder with the other repositories of a run, in the tree of the one that it was started in. */
export const OTHERS = 'repositories';

const pathSchema = z
  .string()
  .regex(/^[^\u0000-\u001f\\]{1,1000}$/, 'needs the path of a checkout, such as ../api, without backslashes');

const roleSchema = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^\u0000-\u001f\u007f]+$/, 'needs one line that says what the repository is for');

const REMOTE =
  /^(?:(?:https?|ssh|file):\/\/(?!-)[^\s\\]{1,1000}|[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}:[^\s\\]{1,1000})$/;

const remoteSchema = z
  .string()
  .regex(REMOTE, 'needs the URL of a repository, such as https://github.com/acme/api or git@github.com:acme/api.git')
  .refine((url) => !/\/\/[^/@]*:[^/@]*@/.test(url), 'has a password in it: give git the login in another way');

const otherSchema = z.strictObject({
  /** Its checkout: absolute, or from the top of this one. */
  path: pathSchema.optional(),
  /** In place of a path: squad keeps a clone. */
  remote: remoteSchema.optional(),
  /** For agents: what it is, and what it has to do with this one. */
  role: roleSchema,
  /** Absent: the name of its folder. */
  name: slugSchema.optional(),
  /** In its folder, after that of this repository. */
  setup: setupSchema.default([]),
  verify: z.array(stepSchema).max(50).default([]),
});
type OtherRepository = z.infer<typeof otherSchema>;

/** More repositories that a run works on, besides the one that it is started in. */
export const repositoriesSchema = z
  .array(otherSchema)
  .max(8)
  .superRefine((all, context) => {
    for (const [index, one] of all.entries()) {
      const name = nameOf(one);
      const add = (key: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [index, key], message });
      if ((one.path === undefined) === (one.remote === undefined))
        add('path', 'needs either the path of a checkout or the `remote` of a repository');
      else if (name === undefined) add('path', 'ends in no name that a folder can have: add `name`');
      else if (all.findIndex((other) => nameOf(other) === name) < index)
        add('path', `is the second repository with the name ${name}: add \`name\``);
    }
  });
type OtherRepositories = z.infer<typeof repositoriesSchema>;

const joinedSchema = z.object({
  name: z.string().refine(isSlug),
  role: z.string(),
  /** Its checkout. */
  root: z.string(),
  base: z.string(),
  /** Absent: HEAD was detached. */
  branch: z.string().optional(),
});
export type JoinedRepository = z.infer<typeof joinedSchema>;

/** Those of a run, as they were when it began. `home`: the commit of the one that it was started in. */
export const joinedRepositoriesSchema = z.object({ home: z.string(), others: z.array(joinedSchema).min(1) });

/** The part of a run's work that one repository got. `name`: empty for the one that the run was started in. */
export const deliveredRepositorySchema = z.object({
  name: z.string(),
  root: z.string(),
  /** Its commit; that which the run began from, if nothing changed there. */
  head: z.string(),
  changed: z.boolean(),
  remote: z.string().optional(),
  pr: z.string().optional(),
});
export type DeliveredRepository = z.infer<typeof deliveredRepositorySchema>;

/** One repository of a run, for people and programs. API. */
export const repositoryViewSchema = z.strictObject({
  /** Empty: it is that in which the run was started. */
  name: z.string(),
  role: z.string(),
  path: z.string(),
  base: z.string(),
  /** The commit of its own branch; null: nothing was delivered there. */
  head: z.string().nullable(),
  remote: z.string().optional(),
  pr: z.string().optional(),
});
export type RepositoryView = z.infer<typeof repositoryViewSchema>;

/** Where it is, as the settings say it. */
export function placeNamed({ path, remote = '' }: Pick<OtherRepository, 'path' | 'remote'>): string {
  return path ?? remote;
}

/** undefined: its path ends in no name. */
export function nameOf(one: Pick<OtherRepository, 'path' | 'remote' | 'name'>): string | undefined {
  if (one.name !== undefined) return one.name;
  const place = one.remote?.replace(/\.git\/*$/, '') ?? one.path ?? '';
  const last =
    place
      .replace(/\/+$/, '')
      .split(one.path === undefined ? /[/:]/ : '/')
      .at(-1) ?? '';
  const slug = plainSlug(last).slice(0, LONGEST_SLUG).replace(/-+$/, '');
  return isSlug(slug) ? slug : undefined;
}

/** Its folder, in the tree of the run. */
export function folderOf(name: string): string {
  return `${OTHERS}/${name}`;
}

interface Steps {
  readonly setup: SetupStep[];
  readonly verify: z.infer<typeof stepSchema>[];
  readonly repositories: OtherRepositories;
}

/** With the steps of all repositories, each in its folder. */
export function stepsOf<S extends Steps>(settings: S): S {
  const all = settings.repositories.flatMap(({ setup, verify, ...one }) => {
    const name = nameOf(one);
    return name === undefined ? [] : [{ folder: folderOf(name), setup, verify }];
  });
  const setup = all.flatMap((one) => one.setup.map((step) => setupIn(one.folder, step)));
  const verify = all.flatMap((one) => one.verify.map((step) => stepIn(one.folder, step)));
  return { ...settings, setup: [...settings.setup, ...setup], verify: [...settings.verify, ...verify] };
}

/** Work that removed the folder must not have the command pass in the one above it. */
function stepIn<Step extends { readonly run: string }>(folder: string, step: Step): Step {
  return { ...step, run: `cd ${folder} || exit 1; ${step.run}` };
}

function setupIn(folder: string, step: SetupStep): SetupStep {
  const { reuse, when } = step;
  const placed = (paths: typeof reuse): string[] => pathsOf(paths).map((path) => `${folder}/${path}`);
  return {
    ...stepIn(folder, step),
    ...(reuse === undefined ? {} : { reuse: placed(reuse) }),
    ...(when === undefined ? {} : { when: placed(when) }),
  };
}
