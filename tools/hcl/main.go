// Reads a Terraform configuration with HashiCorp's own parser, and prints it as JSON: what a test compares.
//
// A value that needs nothing from elsewhere is printed as the value it has. Any other is printed as
// {"expression": "..."}, the text of the file.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

type block struct {
	Type       string                     `json:"type"`
	Labels     []string                   `json:"labels"`
	Attributes map[string]json.RawMessage `json:"attributes"`
	Blocks     []block                    `json:"blocks"`
}

func main() {
	source, err := io.ReadAll(os.Stdin)
	if err == nil {
		var file *hcl.File
		var problems hcl.Diagnostics
		file, problems = hclsyntax.ParseConfig(source, "main.tf", hcl.InitialPos)
		if problems.HasErrors() {
			err = problems
		} else {
			err = json.NewEncoder(os.Stdout).Encode(read(file.Body.(*hclsyntax.Body), source).Blocks)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(body *hclsyntax.Body, source []byte) block {
	found := block{Labels: []string{}, Attributes: map[string]json.RawMessage{}, Blocks: []block{}}
	for name, attribute := range body.Attributes {
		found.Attributes[name] = valueOf(attribute.Expr, source)
	}
	for _, inner := range body.Blocks {
		child := read(inner.Body, source)
		child.Type = inner.Type
		child.Labels = append(child.Labels, inner.Labels...)
		found.Blocks = append(found.Blocks, child)
	}
	return found
}

func valueOf(expression hclsyntax.Expression, source []byte) json.RawMessage {
	if value, problems := expression.Value(nil); !problems.HasErrors() {
		if text, err := ctyjson.Marshal(value, value.Type()); err == nil {
			return text
		}
	}
	text, _ := json.Marshal(map[string]string{"expression": string(expression.Range().SliceBytes(source))})
	return text
}
