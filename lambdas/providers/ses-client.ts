/** What is used of the client. Loaded by name, so that all else of it stays out of the bundle. */
export { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
