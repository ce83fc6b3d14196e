import type { Settings } from '../model/settings.ts';
import { lineOf } from './read-input.ts';
import type { SettingsFile } from './read-settings.ts';
import type { TrustItem } from './trust-item.ts';

/** What settings do with a person's logins and money, besides running commands. */
export function spendingItems(settings: Settings, source: SettingsFile): TrustItem[] {
  return [...publishItems(settings, source), ...modelItems(settings, source)];
}

function publishItems({ publish }: Settings, source: SettingsFile): TrustItem[] {
  if (publish === undefined) return [];
  const { remote, base, pr } = publish;
  const pushes = `pushes the branch squad/<run> to the remote ${remote}, with your login`;
  const opens = `opens a pull request there into ${base ?? 'the branch that the run starts from'}, in your name`;
  const where = placeOf(source, 'publish');
  return [pushes, ...(pr ? [opens] : [])].map((run) => ({ from: 'publish', run, where }));
}

function modelItems({ models, agents = [] }: Settings, source: SettingsFile): TrustItem[] {
  const ofNames = Object.entries(models).map(([name, model]): TrustItem => {
    return { from: 'models', run: `${name} works with the model ${model}`, where: placeOf(source, 'models') };
  });
  const ofAgents = agents.flatMap(({ name, model, effort }): TrustItem[] => {
    const where = placeOf(source, 'agents');
    return [
      ...(model === undefined
        ? []
        : [{ from: 'models' as const, run: `${name} works with the model ${model}`, where }]),
      ...(effort === undefined ? [] : [{ from: 'models' as const, run: `${name} works with effort ${effort}`, where }]),
    ];
  });
  return [...ofNames, ...ofAgents];
}

function placeOf({ file, text }: SettingsFile, key: string): string {
  return `${file}:${lineOf(text, new RegExp(`^["']?${key}["']?\\s*:`))}`;
}
