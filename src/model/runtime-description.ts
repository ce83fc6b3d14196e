import { z } from 'zod';
import { defined } from '../text/defined.ts';

/** Facts about a runtime that differ from the usual ones. An absent field means the usual. */
export interface RuntimeDescription {
  /** The command with which a person logs in. */
  readonly login?: string;
  /** false: it never says what a turn cost, so a limit in USD does not see its turns. */
  readonly reportsCost?: boolean;
  /** false: it does not say which tools a turn used, so that it is not known whether a reviewer looked at anything. */
  readonly reportsTools?: boolean;
  /** It works only where it is named: squad makes no roster of it and does not suggest it, and doctor does not check it. */
  readonly onlyByName?: boolean;
  /** squad knows the real program from reports only, and says so wherever it uses it. */
  readonly experimental?: boolean;
  /** Its agents work in the process of an application: nothing confines them, and only that application can continue their run. */
  readonly inApplication?: boolean;
  /**
   * Keys of its `config` that name files, each with what to do if there is no such file. A relative path starts at the root of
   * the repository.
   */
  readonly configFiles?: Readonly<Record<string, string>>;
  /** Who makes its models, by the name that OpenTelemetry has for them. Absent: it differs, and traces name the runtime. */
  readonly provider?: string;
  /** How the variables begin with which it reaches its own model: `squad.yaml` may let them through without consent. */
  readonly variables?: readonly string[];
  /** Variables of the host that its program may get. `squad team` hands them to the panes. */
  readonly reads?: readonly string[];
}

/** By the names of runtimes. */
export type DescribedRuntimes = Readonly<Record<string, RuntimeDescription>>;

/** Descriptions as a run stores them: a process that shows the run may not have its runtimes. */
export const describedRuntimesSchema: z.ZodType<DescribedRuntimes> = z.record(
  z.string(),
  z
    .object({
      login: z.string().optional(),
      reportsCost: z.boolean().optional(),
      onlyByName: z.boolean().optional(),
      experimental: z.boolean().optional(),
      inApplication: z.boolean().optional(),
      provider: z.string().optional(),
    })
    .transform((description): RuntimeDescription => defined(description)),
);

interface Cast {
  readonly agents: readonly { readonly name: string; readonly runtime: string }[];
  readonly described: DescribedRuntimes;
}

/** The warning at the start of a run and in its report; undefined if none of its runtimes is experimental. */
export function experimentalWarning({ agents, described }: Cast): string | undefined {
  const uses = agents.filter(({ runtime }) => described[runtime]?.experimental === true);
  if (uses.length === 0) return undefined;
  const [names, runtimes] = [uses.map(({ name }) => name), [...new Set(uses.map(({ runtime }) => runtime))]];
  return `${runtimes.join(', ')} is experimental: squad knows the real program from reports only (${names.join(', ')})`;
}

/** A warning about agents that run inside the application; undefined: there are none. */
export function applicationWarning({ agents, described }: Cast): string | undefined {
  const names = agents.filter(({ runtime }) => described[runtime]?.inApplication === true).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return `nothing confines ${names.join(', ')}: an agent of the application works in its process and has its rights`;
}

/** The runtimes among these that do not say what a turn cost. */
export function withoutCost(described: DescribedRuntimes, runtimes: readonly string[]): string[] {
  return [...new Set(runtimes)].filter((name) => described[name]?.reportsCost === false);
}
