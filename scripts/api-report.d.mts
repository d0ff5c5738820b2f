export declare const reportFile: string
export declare function apiReport(folder?: string): string
