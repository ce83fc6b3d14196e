/** The languages of mail, of what squad asks of agents in it, and of what it says to them. */
export const LOCALES = ['en', 'zh'] as const;
export type Locale = (typeof LOCALES)[number];
