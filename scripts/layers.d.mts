export declare function checkLayers(folder?: string): { modules: number; broken: string[] }
