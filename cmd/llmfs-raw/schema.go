package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/llmfs-raw/llmfs-raw/proto"
	"github.com/llmfs-raw/llmfs-raw/schema"
)

func schemaCommand() *cobra.Command {
	var lint bool
	form := formFlag{schema.All}
	c := &cobra.Command{
		Use:   "schema [OP...]",
		Short: "Print the JSON Schemas of replies, or check that they are portable",
		Long: `Print the JSON Schema that a model's reply to each OP has to fit, one after the
other; without OP, all of them. They keep to what OpenAI, vLLM, SGLang,
llama.cpp and Ollama have in common.`,
		Example: `  llmfs-raw schema LOOKUP
  llmfs-raw schema --lint`,
		RunE: func(c *cobra.Command, args []string) error {
			list, err := chooseSchemas(args, form.Form)
			if err != nil {
				return misuse(c, err)
			}
			if lint {
				return lintSchemas(c.OutOrStdout(), list)
			}
			return printSchemas(c.OutOrStdout(), list)
		},
	}
	c.Flags().BoolVar(&lint, "lint", false, "report size, depth and what is not portable")
	c.Flags().Var(&form, "fields", "all, or lean: those with a default may be left out")
	return c
}

// formFlag is a flag that takes a schema's form by name.
type formFlag struct{ schema.Form }

func (f *formFlag) Set(s string) error {
	for _, form := range []schema.Form{schema.All, schema.Lean} {
		if form.String() == s {
			f.Form = form
			return nil
		}
	}
	return fmt.Errorf("want %v or %v", schema.All, schema.Lean)
}

func (f *formFlag) Type() string { return "form" }

func chooseSchemas(names []string, form schema.Form) ([]*schema.Schema, error) {
	if len(names) == 0 {
		return schema.Schemas(form), nil
	}
	var list []*schema.Schema
	for _, name := range names {
		op, ok := proto.OpcodeByName(strings.ToUpper(name))
		if !ok {
			return nil, fmt.Errorf("%s is no opcode; 'llmfs-raw ops' lists them", name)
		}
		s := schema.For(op, form)
		if s == nil {
			return nil, fmt.Errorf("%v has no schema: the kernel takes no reply to it", op)
		}
		list = append(list, s)
	}
	return list, nil
}

func printSchemas(w io.Writer, list []*schema.Schema) error {
	for _, s := range list {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, s.JSON, "", "  "); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n", pretty.Bytes())
	}
	return nil
}

func lintSchemas(w io.Writer, list []*schema.Schema) error {
	tab, bad := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), 0
	fmt.Fprintln(tab, "NAME\tBYTES\tDEPTH\tMEMBERS\tDEFS\tPORTABLE")
	for _, s := range list {
		verdict := "yes"
		if problems := schema.Lint(s.JSON); len(problems) > 0 {
			verdict = strings.Join(problems, "; ")
			bad++
		}
		fmt.Fprintf(tab, "%s\t%d\t%d\t%d\t%d\t%s\n", s.Name, len(s.JSON), s.Depth, s.Properties, s.Defs, verdict)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d schemas are not portable", bad, len(list))
	}
	return nil
}
