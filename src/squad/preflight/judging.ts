import type { Objective } from '../../model/objective.ts';
import type { RunDefinition } from '../../model/run.ts';
import type { Settings } from '../../model/settings.ts';

/** How the work is judged: what the objective says counts, or comes to what the settings say. */
export function judgingOf(
  settings: Settings,
  { frontMatter }: Objective,
): Pick<RunDefinition, 'protect' | 'checks' | 'looks'> {
  const protect = [...new Set([...settings.protect, ...(frontMatter.protect ?? [])])];
  const checks = frontMatter.checks ?? settings.checks;
  const { looks } = frontMatter.review ?? settings.review;
  return {
    ...(protect.length === 0 ? {} : { protect }),
    ...(checks === 'base' ? { checks } : {}),
    ...(looks === 'required' ? { looks } : {}),
  };
}
