import type { AnswerForm, View } from '../../model/plan.ts';
import { asObject, isJsonObject } from '../../text/json.ts';
import type { StageList } from './stage-list.ts';

/** Options of a run of stages. They stay unchanged until its end. */
export interface StagesOptions {
  readonly list: StageList;
  /** The folder of its documents, on the run branch. */
  readonly folder: string;
  readonly reviewRounds: number;
}

/**
 * `late`: its problems are found once the answer counts, and open the task again, once; then the task fails with these words. Others are
 * found when an answer arrives, and are repaired in the same round.
 */
export type StageForm = AnswerForm & { readonly late?: string };

/** The forms that tasks answer in, by name. */
export type Forms = Readonly<Record<string, StageForm>>;

/** The options of a run, and the forms of its playbook. */
export interface Play extends StagesOptions {
  readonly forms: Forms;
}

/** undefined: the run began without a list. A list was checked before its run began. */
export function optionsOf({ options }: Pick<View, 'options'>): StagesOptions | undefined {
  const { list, folder, reviewRounds } = asObject(options);
  if (!isJsonObject(list) || !Array.isArray(list['stages'])) return undefined;
  if (typeof folder !== 'string' || typeof reviewRounds !== 'number') return undefined;
  return { list: list as unknown as StageList, folder, reviewRounds };
}
