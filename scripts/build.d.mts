export declare function build(): boolean
