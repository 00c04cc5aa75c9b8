/** What the provider uses of the client. Named here, so that all else of it stays out of the bundle. */
export { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
