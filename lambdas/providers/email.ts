import { sesEmailProvider } from './ses-email.ts';

/** Sends e-mail. A call that gave no clear answer is never repeated, and waits for a person. */
export const email = sesEmailProvider({ name: 'Email' });

/** What its function carries. */
export const providers = [email];
