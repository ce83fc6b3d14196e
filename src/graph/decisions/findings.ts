/**
 * Findings as they are compared between rounds: without case, punctuation, spacing and line numbers, which move with every
 * edit. Sorted, each once.
 */
export function normaliseFindings(texts: readonly string[]): string[] {
  return [...new Set(texts.map(normaliseFinding).filter((text) => text !== ''))].sort();
}

export function normaliseFinding(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/:\d+(?::\d+)?(?!\p{L})/gu, ' ')
    .replaceAll(/\b(?:lines?|l) ?\d+(?: ?[-–] ?\d+)?/gu, ' ')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
